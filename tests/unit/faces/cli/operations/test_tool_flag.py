from pathlib import Path

import pytest

from fakes.real_app import real_scope
from marid.app.tool_access import ToolAccess
from marid.core.errors import BadInput
from marid.faces.cli.operations.tool_flag import call_tool, prompt_with_result, run_call
from marid.toolkit.outcome import ToolFailure, ToolOutput


def test_a_tool_is_called_with_all_its_arguments_at_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = real_scope(tmp_path)
    (tmp_path / "project" / "a.txt").write_text("hello\n")
    assert run_call(scope, ToolAccess(), "c", ("read_file", '{"path": "a.txt"}')) == 0
    assert "hello" in capfd.readouterr().out


def test_what_is_wrong_is_a_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = real_scope(tmp_path)
    assert run_call(scope, ToolAccess(), "c", ("read_file", "[1]")) == 2
    assert "-P takes the name of a tool and a JSON object" in capfd.readouterr().err
    assert run_call(scope, ToolAccess(), "c", ("no_such_tool", ""), as_json=True) == 4
    assert '"ok": false' in capfd.readouterr().out
    gone = call_tool(scope, ToolAccess(roots=("gone",)), "c", ("get_tree", "{}"))
    assert isinstance(gone, ToolFailure)


def test_a_model_is_told_the_words_and_the_result() -> None:
    assert prompt_with_result(ToolOutput(text="tree"), "") == "tree"
    assert prompt_with_result(ToolOutput(text="tree"), "look") == "look\n\ntree"
    assert prompt_with_result(ToolFailure(code=BadInput.code, message="no"), "look") == "look\n\nERROR: no"


def test_a_tool_of_the_conversation_works_on_it(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    assert run_call(scope, ToolAccess(), "c", ("update_todos", '{"content": "rest"}')) == 0
    assert (tmp_path / "home/contexts/c/todos.md").read_text() == "rest"
