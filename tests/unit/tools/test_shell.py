import json
from pathlib import Path

import pytest

from fakes.ports import FakeProcesses
from fakes.tool_caller import ToolCaller
from marid.core.errors import Unavailable
from marid.ports.processes import FailureAnalyst, ProcessRunner
from marid.toolkit.outcome import CommandPlan, ProcessResult, ToolOutput
from marid.toolkit.params import tool_params
from marid.tools.shell import MAX_COMMAND_BYTES, run_powershell, run_shell

KEY = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"


class Critic:
    """Says what it was asked."""

    def analyse(self, command: str, complaint: str) -> str:
        return f"<{command}> <{complaint}>"


class Absent:
    def analyse(self, command: str, complaint: str) -> str:
        raise Unavailable("nobody is there")


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").touch()
    return ToolCaller(tmp_path, {ProcessRunner: FakeProcesses(programs=["pwsh"])})


def plan(hands: ToolCaller, **args: object) -> CommandPlan:
    made = hands.plan(run_shell, **args)
    assert isinstance(made, CommandPlan)
    return made


def finished(run: CommandPlan, **left: object) -> ToolOutput:
    assert run.finish is not None
    ran: dict[str, object] = {"status": 0, "out": "", "err": "", "seconds": 0.5, **left}
    return run.finish(ProcessResult(**ran))  # pyright: ignore[reportArgumentType]


def with_analyst(hands: ToolCaller, analyst: FailureAnalyst, command: str) -> CommandPlan:
    given = tool_params(run_shell).parse({"command": command}, hands.path_scope)
    made = run_shell.body(**given, analyst=analyst)
    assert isinstance(made, CommandPlan)
    return made


def test_a_command_is_planned_for_sh_and_not_run(hands: ToolCaller) -> None:
    made = plan(hands, command="rm -rf *; echo 'x'")
    assert made.argv == ("/bin/sh", "-c", "rm -rf *; echo 'x'")
    assert made.display == "rm -rf *; echo 'x'"
    assert (made.cwd.name, made.timeout, made.network) == (".", 60, False)
    assert (hands.root / "file").exists()
    made = plan(hands, command="x", cwd="sub", timeout=1.5)
    assert (made.cwd.name, made.timeout) == ("sub", 1.5)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"command": " \n"}, "a command is needed"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x" * (MAX_COMMAND_BYTES + 1)}, "longer than 100,000 bytes"),
        ({"command": "x", "timeout": 0}, "timeout"),
        ({"command": "x", "timeout": -1}, "timeout"),
        ({"command": "x", "timeout": 3601}, "timeout"),
        ({"command": "x", "cwd": "file"}, "'file' is a file, not a folder"),
    ],
)
def test_what_cannot_be_run_is_said(hands: ToolCaller, args: dict[str, object], words: str) -> None:
    failure = hands.failure(run_shell, **args)
    assert failure.code == "bad_input"
    assert words in failure.message


def test_the_result_has_both_streams_the_exit_code_and_a_time_out(hands: ToolCaller) -> None:
    done = finished(plan(hands, command="x"), status=3, out="out\n", err="err\n")
    assert done.text == "STDOUT:\nout\nSTDERR:\nerr\nEXIT CODE: 3"
    assert done.values == {"exit_code": 3, "seconds": 0.5, "timed_out": False, "stdout": "out\n", "stderr": "err\n"}
    assert done.ok
    done = finished(plan(hands, command="x", timeout=2), status=-9, timed_out=True)
    assert done.text.endswith("EXIT CODE: -9\nERROR: timed out after 2s")


@pytest.mark.parametrize("character", ["x", "\n", "\0", "€", "😀"])
def test_the_largest_reply_is_below_four_megabytes(hands: ToolCaller, character: str) -> None:
    much = character * 1_000_000
    done = finished(plan(hands, command="x"), status=1, out=much, err=much)
    assert len(json.dumps({"text": done.text, "values": dict(done.values)})) < 4_000_000


def test_an_analyst_is_asked_about_a_failure_and_its_own_does_not_fail_the_call(hands: ToolCaller) -> None:
    done = finished(with_analyst(hands, Critic(), "make"), status=2, err="oh no")
    assert done.text.endswith("EXIT CODE: 2\nQA ANALYSIS:\n<make> <oh no>")
    assert "QA" not in finished(with_analyst(hands, Critic(), "make"), err="warning").text
    done = finished(with_analyst(hands, Absent(), "make"), status=2, err="oh no")
    assert done.text == "STDOUT:\n\nSTDERR:\noh no\nEXIT CODE: 2"


def test_an_analyst_sees_no_secrets_and_only_the_end(hands: ToolCaller) -> None:
    err = "x" * 20_000 + f"\ntoken: {KEY}\npassword=Tr0ub4dor&3xyz9\n"
    done = finished(with_analyst(hands, Critic(), f"TOKEN={KEY} make"), status=2, err=err)
    opinion = done.text.partition("QA ANALYSIS:\n")[2]
    assert KEY not in opinion
    assert "Tr0ub4dor" not in opinion
    assert len(opinion) < 9_000


@pytest.mark.parametrize("name", ["it's", "it\u2019s", "$(x)", "a\nb", "`x`"])
def test_d36_the_folder_is_no_part_of_a_powershell_script(hands: ToolCaller, name: str) -> None:
    (hands.root / name).mkdir()
    made = hands.plan(run_powershell, script="Get-Location", cwd=name)
    assert isinstance(made, CommandPlan)
    assert made.argv == ("/fake/pwsh", "-NoProfile", "-NonInteractive", "-Command", "Get-Location")
    assert made.cwd.name == name


@pytest.mark.parametrize("script", ["-EncodedCommand ZQ==", "iex x &", "cd..; x -ErrorAction Break", "a\u2019; b"])
def test_d37_a_script_is_one_argument_whatever_it_holds(hands: ToolCaller, script: str) -> None:
    made = hands.plan(run_powershell, script=script)
    assert isinstance(made, CommandPlan)
    assert made.argv[3:] == ("-Command", script)
    assert made.display == script


def test_without_powershell_it_says_what_it_looked_for(tmp_path: Path) -> None:
    failure = ToolCaller(tmp_path, {ProcessRunner: FakeProcesses()}).failure(run_powershell, script="x")
    assert failure.code == "unavailable"
    assert "looked for powershell.exe, pwsh.exe, powershell, pwsh" in failure.message
