import subprocess
import sys
from pathlib import Path

import pytest

from marid.bootstrap.wiring import open_request
from marid.core.errors import BadInput
from marid.faces.mcp.mcp_command import command
from marid.faces.mcp.server import open_session
from marid.launch.start import run


def instructions(cwd: Path, home: Path, **flags: tuple[str, ...]) -> str:
    scope = open_request(cwd=str(cwd), environ={"HOME": str(home), "MARID_HOME": str(home / "marid")})
    session, text = open_session(scope, "files, context", flags)
    assert {spec.family for _, spec in session.tools_by_name()} == {"files", "context"}
    session.close()
    return text


@pytest.mark.parametrize(
    ("home", "roots", "warned"), [("", (), True), ("users/me", (), True), ("", (".",), False), ("../else", (), False)]
)
def test_a_project_that_holds_the_home_folder_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], home: str, roots: tuple[str, ...], *, warned: bool
) -> None:
    assert f"the code below: {tmp_path}. Relative" in instructions(tmp_path, tmp_path / home, roots=roots)
    assert ("your whole home folder" in capsys.readouterr().err) is warned


def test_roots_that_are_named_replace_the_project(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    text = instructions(tmp_path, tmp_path / "home", roots=("b", str(tmp_path / "a")), files=("file",))
    assert f"below: {tmp_path}/b, {tmp_path}/a." in text


def test_the_whole_disk_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"not inside a project: .* --root DIR"):
        instructions(Path("/"), tmp_path)
    assert "below: /." in instructions(Path("/"), tmp_path, roots=("/",))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--root", "nope"], 4, "nope: not a folder, or it cannot be opened"),
        (["--root", __file__], 4, "not a folder, or it cannot be opened"),
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
