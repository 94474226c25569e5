import json

from hypothesis import given, settings

from fakes.context_formats import item, item_contents, projects, read_json
from marid.assembly.formats.format_table import pack
from marid.assembly.formats.json_format import JsonFormat
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level


def written(items: list[ContextItem], sections: tuple[Section, ...] = ()) -> bytes:
    return b"".join(piece for batch in pack(sections, items, JsonFormat()) for piece in batch.buffers)


def test_a_file_says_how_large_it_is_and_how_much_is_written() -> None:
    assert json.loads(written([item("src/a.py", b"x\n", 4)])) == {
        "version": 1,
        "sections": [],
        "files": [
            {
                "path": "src/a.py",
                "size": 6,
                "modified": "2023-11-14T22:13:20Z",
                "encoding": "utf-8",
                "level": "full",
                "written": 2,
                "content": "x\n",
            }
        ],
    }


def test_every_fact_that_is_out_of_the_ordinary_is_told() -> None:
    odd = ContextItem("\udcff", b"x", 3, 0.0, "cp1252", Level.OUTLINE, 2, 5, ((1, 2), (4, 4)))
    (file,) = json.loads(written([odd]))["files"]
    assert (file["path"], file["path_hex"]) == ('"\\377"', "ff")
    assert (file["encoding"], file["level"], file["masked"], file["tokens"]) == ("cp1252", "outline", 2, 5)
    assert file["lines"] == [[1, 2], [4, 4]]


def test_a_file_by_name_has_no_content() -> None:
    (file,) = json.loads(written([item("b", b"", 7)._replace(level=Level.NAME)]))["files"]
    assert (file["level"], "content" in file, "written" in file) == ("name", False, False)


def test_sections_come_first() -> None:
    sections = (Section("tree", "Tree", b"p/\n"), Section("git_log", "Git Log", "é".encode()))
    data = json.loads(written([item("a", b"1")], sections))
    assert data["sections"] == [
        {"kind": "tree", "title": "Tree", "content": "p/\n"},
        {"kind": "git_log", "title": "Git Log", "content": "é"},
    ]
    assert json.loads(written([], sections))["files"] == []


def test_one_file_is_one_line_and_no_files_are_an_empty_list() -> None:
    assert written([item("a", b"1\n2\n"), item("b", b"3\n")]).count(b"\n") == 4
    assert json.loads(written([])) == {"version": 1, "sections": [], "files": []}


@settings(deadline=None)
@given(projects())
def test_a_parser_gets_every_name_and_content_back(items: list[ContextItem]) -> None:
    assert read_json(written(items)) == item_contents(items)
