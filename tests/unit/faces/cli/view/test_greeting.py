from contextlib import redirect_stdout

import pytest

from fakes.apps import AppFakes
from fakes.program import Program
from fakes.terminal import terminal
from marid import __version__
from marid.core.settings.values import make_settings
from marid.faces.cli.argv.option_tables import OPTIONS
from marid.faces.cli.view.greeting import TRY_NEXT, greet


def test_the_greeting_says_what_is_set_up_and_what_to_try(capfd: pytest.CaptureFixture[str]) -> None:
    scope = AppFakes().scope("/projects/shop", make_settings(home="/no/such/home", max_size_mb=2.5))
    resolved = scope.resolve()._replace(notes=("a note",))
    greet(scope._replace(resolver=lambda: resolved))
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == f"marid {__version__}: context, conversations and tools on your own code"
    assert "  project    /projects/shop" in lines
    assert "  home       /no/such/home (created when needed)" in lines
    assert "  tokens     o200k_base" in lines
    assert "  secrets    masked" in lines
    assert "  size limit 2.5 MB" in lines
    assert "  a note" in lines
    assert [line for line, _ in TRY_NEXT if not any(shown.startswith(f"  {line}") for shown in lines)] == []


def test_a_home_that_is_there_and_secrets_that_are_not_masked_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    greet(AppFakes().scope("/", make_settings(home="/", mask=False)))
    out = capfd.readouterr().out
    assert "  home       /\n" in out
    assert "  secrets    not masked\n" in out


@pytest.mark.parametrize(("environ", "bold_name"), [({"TERM": "xterm"}, True), ({"NO_COLOR": "1"}, False)])
def test_on_a_terminal_the_program_alone_greets(marid: Program, environ: dict[str, str], bold_name: bool) -> None:
    marid.set(**environ)
    with terminal() as screen, redirect_stdout(screen.file):
        assert marid().code == 0
        text = screen.text()
    assert f"  project    {marid.folder}\n" in text
    assert ("\x1b[1mmarid\x1b[0m" in text) is bold_name


def test_what_is_suggested_can_be_done() -> None:
    flags = {flag for option in OPTIONS for flag in option.flags}
    lines = [line for line, _ in TRY_NEXT if line.startswith("marid context ")]
    words = [word for line in lines for word in line.split() if word.startswith("--")]
    assert [word for word in words if word not in flags] == []


def test_the_tool_that_is_suggested_can_be_called(marid: Program) -> None:
    marid.write({"a.py": "x"})
    (line,) = (line for line, _ in TRY_NEXT if line.startswith("marid tool "))
    assert "a.py" in marid(*line.split()[1:]).text
