import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from marid.app.app import App
from marid.bootstrap.wiring import build
from marid.core.errors import BadInput
from marid.faces.mcp.mcp_command import allowed_roots, can_read, command, instructions
from marid.faces.mcp.roots import AllowedRoots
from marid.launch.start import run

Make = Callable[..., App]


@pytest.fixture
def make_app(tmp_path: Path) -> Make:
    def make(cwd: Path, home: Path | None = None) -> App:
        environ = {"HOME": str(home or tmp_path / "home"), "MARID_HOME": str(tmp_path / "marid")}
        return build(cwd=str(cwd), environ=environ)

    return make


def test_without_roots_the_project_of_the_working_directory_may_be_read(
    tmp_path: Path, make_app: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "sub").mkdir()
    assert allowed_roots(make_app(tmp_path / "project" / "sub"), ()).folders == (str(tmp_path / "project"),)
    assert capsys.readouterr() == ("", "")


def test_roots_that_are_named_replace_the_project(tmp_path: Path, make_app: Make) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    given = ("b", str(tmp_path / "a"))
    assert allowed_roots(make_app(tmp_path), given).folders == (str(tmp_path / "b"), str(tmp_path / "a"))


def test_the_whole_disk_must_be_named(make_app: Make) -> None:
    with pytest.raises(BadInput, match=r"belongs to no project: .* --root DIR"):
        allowed_roots(make_app(Path("/")), ())
    assert allowed_roots(make_app(Path("/")), ("/",)).folders == ("/",)


@pytest.mark.parametrize("home", ["", "users/me"])
def test_a_project_that_holds_the_home_folder_is_warned_of(
    tmp_path: Path, make_app: Make, capsys: pytest.CaptureFixture[str], home: str
) -> None:
    (tmp_path / home).mkdir(parents=True, exist_ok=True)
    assert allowed_roots(make_app(tmp_path, tmp_path / home), ()).folders == (str(tmp_path),)
    assert "your whole home folder may be read" in capsys.readouterr().err


@pytest.mark.parametrize(("verdict", "offered"), [("allow", True), ("ask", False), ("deny", False)])
def test_context_is_read_only_where_policy_lets_everybody_read(
    tmp_path: Path, make_app: Make, verdict: str, *, offered: bool
) -> None:
    (tmp_path / "marid").mkdir()
    (tmp_path / "marid" / "config.toml").write_text(f'[policy]\nread = "{verdict}"\n')
    assert can_read(make_app(tmp_path)) is offered


def test_the_instructions_name_the_roots() -> None:
    assert "the code below: /a, /b." in instructions(AllowedRoots(("/a", "/b")))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--root", "nope"], 4, "'nope' is not there"),
        (["--root", __file__], 2, "is a file"),
        (["--root"], 2, "--root"),
        (["somewhere"], 2, "somewhere"),
        (["--tools", "files,nonsense"], 2, "no family is called 'nonsense'; families are context, files, python"),
        (["--allow", "nonsense"], 2, "unknown effect 'nonsense'; effects are read, write"),
    ],
)
def test_a_wrong_command_line_is_told_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, words: str
) -> None:
    assert run(["marid", "--home", str(tmp_path), "mcp", *options]) == code
    out, err = capsys.readouterr()
    assert (out, words in err) == ("", True)


def test_the_help_needs_no_mcp() -> None:
    script = (
        "import sys; from marid.launch.start import run; code = run(['marid', 'mcp', '--help']); "
        "print(sorted({'mcp', 'anyio', 'pydantic', 'asyncio'} & set(sys.modules)), code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[] 0\n")
    assert "--root DIR" in done.stdout
    assert command.name == "mcp"
