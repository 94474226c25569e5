import pytest

from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import parse_command_line
from marid.faces.cli.argv.line_checks import check_line


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-c", "../x"], "'../x' cannot be the name"),
        (["-c", "new:"], "needs a prefix"),
        (["-c", "new:a/b"], "'a/b' cannot be the name"),
        (["-C", "a b"], "'a b' cannot be"),
        (["-C", "System"], "reserved"),
        (["-D", "new:x"], "'new:x' cannot be"),
        (["-A", ""], "it is empty"),
        (["-r", "-"], "stands for the previous one"),
        (["-R", "ok", "/"], "'/' cannot be"),
        (["-g", "many"], "-g takes a whole number, not 'many'"),
        (["--destroy-at", "-5"], "--destroy-at takes a whole number, not '-5'"),
        (["-n", "fule"], "did you mean 'fuel'"),
        (["-N", "x", "zzzzzz"], "`list` prints all"),
        (["-s", "fuel"], "-s takes KEY=VALUE"),
        (["-s", "=5"], "-s takes KEY=VALUE"),
        (["--allow", ""], "--allow needs EFFECTS"),
        (["-x", "hello"], "-x sends nothing to the model: remove the prompt"),
        (["-L", "hello"], "-L sends nothing to the model: remove the prompt, or add -X"),
        (["-x", "-X"], "exclude each other"),
        (["--json", "hello"], "--json needs a flag"),
        (["--yes"], "--yes works only with"),
        (["--wait-lock", "soon"], "--wait-lock takes a number of seconds, not 'soon'"),
        (["--wait-lock", "-1"], "--wait-lock takes a number of seconds"),
        (["--wait-lock=nan"], "--wait-lock takes a number of seconds"),
    ],
)
def test_what_is_wrong_is_seen_at_once(args: list[str], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_line(parse_command_line(args))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "args",
    [
        ["-c", "-"],
        ["-C", "new"],
        ["-c", "new:work"],
        ["-D", "-", "--yes"],
        ["-G", "-", "-5"],
        ["-n", "prompt"],
        ["-n", "providers.mine.api_key"],
        ["-L", "-X", "hello"],
        ["-a", "-m", "x", "-r", "y", "hello"],
        ["-P", "get_tree", "{}", "--json"],
        ["-s", "a=b=c", "-s", "d="],
        ["--wait-lock", "0.5", "hello"],
    ],
)
def test_what_is_right_passes(args: list[str]) -> None:
    check_line(parse_command_line(args))
