import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, types

from marid.bootstrap.wiring import build
from marid.core.context import OutputFormat
from marid.core.events import ContextEvent, FileProblem, Notice, PackProgress, WalkProgress
from marid.faces.mcp.read_context import log_event, read_context_tool
from marid.faces.mcp.roots import resolve_roots
from marid.faces.mcp.server import make_server

Ask = Callable[..., tuple[str, bool]]
# Made up, but of the form that is masked.
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return filled(tmp_path / "project")


@pytest.fixture
def ask(tmp_path: Path, project: Path) -> Ask:
    return asking(project, tmp_path)


def filled(project: Path) -> Path:
    (project / "src").mkdir(parents=True)
    (project / "README.md").write_text("# Readme\n")
    (project / "src" / "app.py").write_text("def main():\n    return 1\n")
    (project / "debug.log").write_text("noise\n")
    return project


def asking(project: Path, home: Path) -> Ask:
    """Calls read_context over the protocol, in process: the text, and whether it is an error."""

    def call(environ: dict[str, str] | None = None, **arguments: Any) -> tuple[str, bool]:
        base = {"HOME": str(home), "MARID_HOME": str(home / "marid"), "PATH": os.defpath}
        app = build(cwd=str(project), environ={**base, **(environ or {})})
        server = make_server([read_context_tool(app, resolve_roots([app.project], "/"))], "")
        result = anyio.run(_call, server, {"path": str(project), **arguments})
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return content.text, bool(result.is_error)

    return call


@pytest.fixture
def ask_as_nobody(tmp_path: Path) -> Iterator[tuple[Path, Ask]]:
    """A project with a closed folder, and a way to ask about it: root could read it, so root becomes somebody else."""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        project = filled(Path(top) / "project")
        ask = asking(project, tmp_path)
        ask()  # loads what a call needs while everything may still be read
        closed = project / "closed"
        closed.mkdir(0o000)
        before = os.geteuid()
        try:
            if before == 0:
                os.seteuid(65534)
            yield closed, ask
        finally:
            os.seteuid(before)
            closed.chmod(0o700)


async def _call(server: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    async with Client(server) as client:
        return await client.call_tool("read_context", arguments)


def test_the_relevant_files_come_as_one_text(ask: Ask) -> None:
    text, failed = ask()
    assert not failed
    assert text.startswith("File: README.md\nSize: 9 bytes\n")
    assert text.endswith("def main():\n    return 1\n")
    assert "debug.log" not in text


def test_rules_are_stronger_than_the_defaults(ask: Ask) -> None:
    assert ask(rules=["debug.log", "!*.md"], list_only=True) == ("debug.log\nsrc/app.py\n", False)


def test_rules_are_stronger_than_files_of_rules(ask: Ask, project: Path) -> None:
    (project / ".contextfiles").write_text("!src/\n")
    assert ask(list_only=True) == ("README.md\n", False)
    assert ask(list_only=True, rules=["src/"]) == ("README.md\nsrc/app.py\n", False)


@pytest.mark.parametrize(("form", "start"), [("text", "File: "), ("markdown", "#"), ("xml", "<"), ("json", "{")])
def test_every_format_may_be_asked_for(ask: Ask, form: str, start: str) -> None:
    text, failed = ask(format=form)
    assert (text[: len(start)], failed) == (start, False)
    assert form in {one.value for one in OutputFormat}


def test_a_list_may_be_json(ask: Ask) -> None:
    text, failed = ask(format="json", list_only=True)
    assert (text.split(), failed) == (["[", '"README.md",', '"src/app.py"', "]"], False)


def test_targets_choose_a_part(ask: Ask, project: Path) -> None:
    text, failed = ask(targets=["src"])
    assert (failed, "def main" in text, "Readme" in text) == (False, True, False)
    assert ask(targets=["README.md", str(project / "src")], list_only=True) == ("README.md\nsrc/app.py\n", False)
    assert ask(targets=[], list_only=True) == ("README.md\nsrc/app.py\n", False)


def test_a_budget_is_kept(ask: Ask, project: Path) -> None:
    (project / "src" / "long.py").write_text("def long():\n" + "    print('again and again')\n" * 500)
    text, failed = ask(budget=400)
    assert not failed
    assert "def main():\n    return 1\n" in text
    assert "long.py" in text
    assert text.count("again and again") == 0


def test_an_empty_folder_is_an_empty_text(ask: Ask, project: Path) -> None:
    (project / "empty").mkdir()
    assert ask(path=str(project / "empty")) == ("", False)


def test_secrets_are_masked_and_counted_in_the_log(ask: Ask, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "src" / "key.py").write_text(f"KEY = '{KEY}'\n")
    text, _ = ask()
    assert "[masked:" in text
    assert KEY not in text
    assert capsys.readouterr() == ("", "marid: masked 1 secret\n")


def test_masking_follows_the_settings(ask: Ask, project: Path) -> None:
    (project / "src" / "key.py").write_text(f"KEY = '{KEY}'\n")
    text, _ = ask({"MARID_MASK": "no"})
    assert KEY in text


def test_a_name_that_is_no_utf8_survives(ask: Ask, project: Path) -> None:
    with open(os.path.join(os.fsencode(project), b"caf\xe9.py"), "wb") as file:
        file.write(b"pass\n")
    text, failed = ask(list_only=True)
    assert not failed
    assert r"caf\351.py" in text
    assert not ask()[1]


def test_what_cannot_be_read_is_left_out_and_told_in_the_log(
    ask_as_nobody: tuple[Path, Ask], capsys: pytest.CaptureFixture[str]
) -> None:
    _, ask = ask_as_nobody
    text, failed = ask()
    assert (failed, "def main" in text) == (False, True)
    assert "marid: skipped 'closed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("what", "line"),
    [
        (FileProblem(path="a", reason="it is gone"), "marid: skipped 'a': it is gone\n"),
        (Notice(text="the copy may be old"), "marid: the copy may be old\n"),
        (WalkProgress(files=1), ""),
        (PackProgress(files=1, bytes=2), ""),
    ],
)
def test_the_log_tells_of_trouble_and_not_of_progress(
    what: ContextEvent, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log_event(what)
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize("path", [".", "src", "~", "https://example.com/x.git", "owner/name"])
def test_a_relative_path_is_an_error(ask: Ask, path: str) -> None:
    assert ask(path=path) == (
        f"'{path}' is not an absolute path: give the whole path of a folder, from '/' on",
        True,
    )


def test_a_missing_folder_is_an_error(ask: Ask, project: Path) -> None:
    assert ask(path=f"{project}/nope") == (f"'{project}/nope' is not there", True)


def test_a_file_instead_of_a_folder_is_an_error(ask: Ask, project: Path) -> None:
    text, failed = ask(path=f"{project}/README.md")
    assert failed
    assert text.startswith(f"'{project}/README.md' is a file: give its folder as 'path'")


def test_an_unreadable_folder_is_an_error(ask_as_nobody: tuple[Path, Ask]) -> None:
    closed, ask = ask_as_nobody
    assert ask(path=str(closed)) == (f"'{closed}' cannot be read: no permission", True)


def test_a_folder_outside_is_refused_with_a_hint(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    text, failed = ask(path=str(tmp_path / "elsewhere"))
    assert failed
    assert text.startswith(f"'{tmp_path}/elsewhere' is outside the folders that this server may read")
    assert "--root DIR" in text
    assert "project" not in text


def test_a_link_out_of_the_root_is_refused(ask: Ask, tmp_path: Path, project: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / "way").symlink_to(tmp_path / "elsewhere")
    text, failed = ask(path=f"{project}/way")
    assert failed
    assert text.startswith(f"'{project}/way' is outside")
    assert "elsewhere" not in text


@pytest.mark.parametrize("target", ["..", "../other", "/etc", "way", "way/secret.txt"])
def test_a_target_that_leaves_the_folder_is_refused(ask: Ask, tmp_path: Path, project: Path, target: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("secret\n")
    (project / "way").symlink_to(tmp_path / "other")
    assert ask(targets=["src", target]) == (
        f"the target '{target}' leads out of 'path': targets are files and folders below it",
        True,
    )


def test_a_missing_target_is_an_error(ask: Ask) -> None:
    assert ask(targets=["nope"]) == ("'nope' is not there", True)


def test_too_much_content_is_an_error_that_names_the_ten_largest(ask: Ask, project: Path) -> None:
    for number in range(12):
        (project / "src" / f"n{number:02}.txt").write_text("x" * (1000 + number))
    text, failed = ask({"JINNI_MAX_SIZE_MB": "0.0078125"})
    assert failed
    assert text.startswith("Total content size exceeds limit of 0.0078125MB")
    assert [line.split()[2] for line in text.splitlines() if "--rule '" in line] == [
        f"src/n{number:02}.txt" for number in range(11, 1, -1)
    ]
    assert "an item of 'rules'" in text
    assert not ask({"JINNI_MAX_SIZE_MB": "0.0078125"}, list_only=True)[1]


def test_a_budget_that_is_too_small_is_an_error(ask: Ask) -> None:
    text, failed = ask(budget=1)
    assert failed
    assert "budget" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"format": "yaml"}, "'format' must be one of text, markdown, xml, json, not 'yaml'"),
        ({"rules": "!*.log"}, "'rules' must be a list of texts, not '!*.log'"),
        ({"targets": [1]}, "'targets' must be a list of texts, not [1]"),
        ({"list_only": 3}, "'list_only' must be true or false, not 3"),
        ({"budget": "many"}, "'budget' must be a whole number above 0, not 'many'"),
        ({"path": 5}, "'path' must be a text that is not empty, not 5"),
        ({"path": None}, "'path' is missing: give the absolute path of a folder"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_fits(ask: Ask, arguments: dict[str, Any], words: str) -> None:
    assert ask(**arguments) == (words, True)


def test_an_unknown_argument_is_an_error(ask: Ask) -> None:
    text, failed = ask(max_depth=3)
    assert failed
    assert text.startswith("read_context takes no 'max_depth'")


def test_histories_and_our_own_home_are_kept_from_clients(ask: Ask, project: Path) -> None:
    (project / "src" / "history.toml").write_text("canary = 1\n")
    (project / ".marid-home").mkdir()
    (project / ".marid-home" / "config.toml").write_text("# canary\n")
    environ = {"MARID_HOME": str(project / ".marid-home")}
    for wanted in ({}, {"targets": ["src/history.toml"]}, {"targets": [".marid-home"]}, {"list_only": True}):
        text, failed = ask(environ, **wanted)
        assert not failed
        assert "canary" not in text
        assert "history.toml" not in text
        assert "config.toml" not in text
    assert ask(environ, path=str(project / ".marid-home")) == ("a target is kept from every tool", True)
