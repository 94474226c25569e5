import json

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.context_formats import paths
from marid.assembly.views.path_list import json_bytes, render_paths
from marid.core.context import OutputFormat
from marid.text.display import unquote_path
from marid.workspace.walk import Folder


def written(folders: list[Folder], *, null: bool = False, form: OutputFormat = OutputFormat.TEXT) -> bytes:
    return b"".join(piece for batch in render_paths(folders, null=null, form=form) for piece in batch)


def test_there_is_one_path_a_line() -> None:
    assert written([Folder("", ["a", "b"]), Folder("src/x", ["c.py"])]) == b"a\nb\nsrc/x/c.py\n"


def test_nothing_is_written_for_nothing() -> None:
    assert written([]) == b""


def test_a_name_that_could_be_misread_is_quoted() -> None:
    assert written([Folder("", ["a\nb", "é", "\udcff"]), Folder("x\ty", ["c"])]) == (
        b'"a\\nb"\n\xc3\xa9\n"\\377"\n"x\\ty/c"\n'
    )


def test_a_name_that_looks_quoted_is_quoted_wherever_it_stands() -> None:
    assert written([Folder("", ["!", '"b"'])]) == b'!\n"\\"b\\""\n'


def test_names_separated_by_nul_are_the_bytes_of_the_disk() -> None:
    assert written([Folder("", ["a\nb", '"c"', "\udcff"]), Folder("d", ["e"])], null=True) == b'a\nb\0"c"\0\xff\0d/e\0'


def test_json_is_a_list_of_paths_shown_as_elsewhere() -> None:
    assert json.loads(written([Folder("", ["a\nb"]), Folder("d", ["é"])], form=OutputFormat.JSON)) == ['"a\\nb"', "d/é"]


def test_a_long_list_comes_in_batches() -> None:
    folders = [Folder(str(n), ["a"]) for n in range(9000)]
    assert [len(batch) for batch in render_paths(folders, null=False, form=OutputFormat.TEXT)] == [4000, 4000, 1000]


def test_json_ends_with_a_newline() -> None:
    assert json_bytes(["é"]) == '[\n "é"\n]\n'.encode()


@settings(deadline=None)
@given(st.lists(paths(), max_size=6))
def test_every_name_can_be_read_back(names: list[str]) -> None:
    folders = [Folder(path.rpartition("/")[0], [path.rpartition("/")[2]]) for path in names]
    lines = written(folders).decode().split("\n")[:-1]
    assert [unquote_path(line) for line in lines] == names
    raw = written(folders, null=True).split(b"\0")[:-1]
    assert [one.decode("utf-8", "surrogateescape") for one in raw] == names
