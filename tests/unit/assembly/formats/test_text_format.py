from hypothesis import given, settings

from fakes.context_formats import RULE, item, item_contents, projects, read_text
from marid.assembly.formats.text_format import TextFormat
from marid.assembly.items import ContextItem, Section
from marid.assembly.pack import pack
from marid.core.context import Level


def written(items: list[ContextItem], sections: tuple[Section, ...] = ()) -> bytes:
    return b"".join(piece for batch in pack(sections, items, TextFormat()) for piece in batch.buffers)


def test_a_file_has_a_header_a_rule_a_blank_line_and_its_content() -> None:
    assert written([item("src/a.py", b"print()\n")]) == (
        b"File: src/a.py\nSize: 8 bytes\nLast Modified: 2023-11-14 22:13:20\n" + RULE + b"\n\nprint()\n"
    )


def test_a_blank_line_and_a_rule_stand_between_files_and_nothing_after_the_last() -> None:
    head = b"Size: 1 bytes\nLast Modified: 2023-11-14 22:13:20\n" + RULE + b"\n\n"
    assert written([item("a", b"1"), item("b", b"\n")]) == (
        b"File: a\n" + head + b"1\n" + b"\n" + RULE + b"\n" + b"File: b\n" + head + b"\n"
    )


def test_an_empty_file_has_a_header_and_an_empty_line() -> None:
    assert written([item("a", b"")]).endswith(RULE + b"\n\n\n")


def test_no_files_are_no_output() -> None:
    assert written([]) == b""


def test_the_header_says_how_many_bytes_follow_when_they_are_not_the_file_s() -> None:
    assert b"Size: 9 bytes\nLast Modified: 2023-11-14 22:13:20\nContent: 4 bytes\n" in written([item("a", b"text", 5)])


def test_the_header_says_that_it_is_an_outline_or_some_lines() -> None:
    outline = item("a.py", b"1 def f()\n", 50)._replace(level=Level.OUTLINE)
    some = item("b.py", b"x\n", 50)._replace(spans=((3, 3), (7, 9)))
    text = written([outline, some]).decode()
    assert "Level: outline\nContent: 10 bytes\n" in text
    assert "Lines: 3-3, 7-9\nContent: 2 bytes\n" in text


def test_files_by_name_come_last_in_one_block() -> None:
    named = item("b\n.py", b"", 7)._replace(level=Level.NAME)
    text = written([named, item("a.py", b"x")])
    assert text.endswith(
        b'x\n\n%b\nBy name only: 1 files\nContent: 19 bytes\n%b\n\n"b\\n.py" (7 bytes)\n' % (RULE, RULE)
    )


def test_a_section_stands_before_the_files_with_its_size() -> None:
    text = written([item("a", b"1")], (Section("tree", "Tree", b"p/\n"), Section("git_log", "Git Log", b"x")))
    assert text.startswith(b"Tree\nContent: 3 bytes\n" + RULE + b"\n\np/\n\n" + RULE + b"\nGit Log\nContent: 1 bytes\n")
    assert b"\n\nx\n\n" + RULE + b"\nFile: a\n" in text


@settings(deadline=None)
@given(projects())
def test_who_trusts_the_sizes_gets_every_name_and_content_back(items: list[ContextItem]) -> None:
    assert read_text(written(items)) == item_contents(items)
