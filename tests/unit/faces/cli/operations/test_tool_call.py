from pathlib import Path

import pytest

from fakes.real_app import real_scope
from marid.app.app import RequestScope
from marid.core.errors import NotFound
from marid.faces.cli.operations.tool_call import parse_plain_flags, quick_tool
from marid.tools.file_lines import get_file_slice
from marid.tools.text_search import grep_files


def test_plain_flags_are_read_in_both_spellings() -> None:
    given = parse_plain_flags(get_file_slice, ["--path", "a", "--start-line", "2", "--end_line", "x"])
    assert given == {"path": "a", "start_line": "2", "end_line": "x"}
    assert parse_plain_flags(get_file_slice, []) == {}


@pytest.mark.parametrize(
    "words",
    [
        *(["--path"], ["a"], ["--path=a"], ["--path", "-"], ["--nonsense", "a"], ["--path", "a", "--path", "b"]),
        *(["--help"], ["--root", "a"], ["--args", "{}"], ["--path", "a", "--trust"]),
    ],
)
def test_other_lines_are_left_to_click(words: list[str]) -> None:
    assert parse_plain_flags(get_file_slice, words) is None


def test_flags_that_repeat_or_stand_alone_are_left_to_click() -> None:
    assert parse_plain_flags(grep_files, ["--pattern", "x", "--files_only", "true"]) is None


def test_an_unknown_tool_and_another_name_of_one_are_left_to_click(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    for args in (["nonsense"], ["dir_list"], [], ["--json", "read_file"]):
        assert quick_tool(args, lambda: scope) is None


def test_an_error_before_the_call_is_shown_by_click() -> None:
    def fail() -> RequestScope:
        raise NotFound("the project is gone")

    assert quick_tool(["read_file", "--path", "a"], fail) is None


def test_a_call_prints_its_result(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = real_scope(tmp_path)
    (Path(scope.project) / "a.txt").write_text("one\n")
    for words in (["--path", "a.txt"], ["--path", "a.txt", "--json"]):
        run = quick_tool(["read_file", *words], lambda: scope)
        assert run is not None
        assert run() == 0
    assert capfd.readouterr().out.startswith('one\n{"ok": true, "result": "one\\n", ')
