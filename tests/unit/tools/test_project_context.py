import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from fakes.files import as_nobody
from fakes.hostile_project import context_reader
from fakes.tool_caller import ToolCaller
from marid.app.tool_session import ToolAccess, notice_listener, open_tools
from marid.assembly.context_reader import ContextReader
from marid.bootstrap.wiring import open_request
from marid.core.errors import Exhausted
from marid.toolkit.handles import FolderRef
from marid.toolkit.outcome import FixedResultLimit
from marid.tools.project_context import read_context
from marid.workspace.guard.path_scope import PathScope

Ask = Callable[..., tuple[str, bool]]
# Made up, but of the form that is masked.
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return filled(tmp_path / "project")


@pytest.fixture
def notes() -> list[str]:
    return []


def filled(project: Path) -> Path:
    (project / "src").mkdir(parents=True)
    (project / "README.md").write_text("# Readme\n")
    (project / "src" / "app.py").write_text("def main():\n    return 1\n")
    (project / "debug.log").write_text("noise\n")
    return project


@pytest.fixture
def ask(tmp_path: Path, project: Path, notes: list[str]) -> Ask:
    """Calls read_context as every face does: the text, and whether it is an error."""

    def call(environ: dict[str, str] | None = None, **arguments: Any) -> tuple[str, bool]:
        base = {"HOME": str(tmp_path), "MARID_HOME": str(tmp_path / "marid"), "PATH": os.defpath}
        scope = open_request(cwd=str(project), environ={**base, **(environ or {})})
        session = open_tools(scope, ToolAccess(), listener=notice_listener(notes.append))
        try:
            outcome = anyio.run(session.call, "read_context", {"path": str(project), **arguments})
        finally:
            session.close()
        return outcome.text.removeprefix("ERROR: "), not outcome.ok

    return call


def test_the_relevant_files_come_as_one_text(ask: Ask) -> None:
    text, failed = ask()
    assert not failed
    assert text.startswith("File: README.md\nSize: 9 bytes\n")
    assert text.endswith("def main():\n    return 1\n")
    assert "debug.log" not in text


def test_rules_are_stronger_than_the_defaults_and_files_of_rules(ask: Ask, project: Path) -> None:
    assert ask(rules=["debug.log", "!*.md"], list_only=True) == ("debug.log\nsrc/app.py\n", False)
    (project / ".contextfiles").write_text("!src/\n")
    assert ask(list_only=True) == ("README.md\n", False)
    assert ask(list_only=True, rules=["src/"]) == ("README.md\nsrc/app.py\n", False)


@pytest.mark.parametrize(("form", "start"), [("text", "File: "), ("markdown", "#"), ("xml", "<"), ("json", "{")])
def test_every_format_may_be_asked_for(ask: Ask, form: str, start: str) -> None:
    text, failed = ask(format=form)
    assert (text[: len(start)], failed) == (start, False)


def test_only_keeps_what_matches(ask: Ask) -> None:
    assert ask(only=["*.py"], list_only=True) == ("src/app.py\n", False)
    assert ask(only=["!*.py"])[1]


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
    text, failed = ask(budget=1)
    assert (failed, "budget" in text) == (True, True)


def test_secrets_are_masked_and_counted_in_a_notice(ask: Ask, project: Path, notes: list[str]) -> None:
    (project / "src" / "key.py").write_text(f"KEY = '{KEY}'\n")
    text, _ = ask()
    assert "[masked:" in text
    assert KEY not in text
    assert notes == ["masked 1 secret"]
    text, _ = ask({"MARID_MASK": "no"})
    assert KEY in text


def test_a_name_that_is_no_utf8_survives(ask: Ask, project: Path) -> None:
    with open(os.path.join(os.fsencode(project), b"caf\xe9.py"), "wb") as file:
        file.write(b"pass\n")
    text, failed = ask(list_only=True)
    assert not failed
    assert r"caf\351.py" in text
    assert not ask()[1]


@pytest.mark.parametrize("path", [".", "src", "https://example.com/x.git", "owner/name"])
def test_a_relative_path_is_an_error(ask: Ask, path: str) -> None:
    words = f"'{path}' is not an absolute path: give the whole path of a folder, starting with '/'"
    assert ask(path=path) == (words, True)


def test_a_missing_folder_or_a_file_is_an_error(ask: Ask, project: Path) -> None:
    assert ask(path=f"{project}/nope") == (f"{project}/nope: not found", True)
    text, failed = ask(path=f"{project}/README.md")
    assert failed
    assert text.startswith(f"'{project}/README.md' is a file: give its folder as 'path'")


def test_what_cannot_be_read_is_left_out_with_a_notice_unless_it_was_asked_for() -> None:
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        project = filled(Path(top) / "project")
        closed = project / "closed"
        closed.mkdir(0o000)
        hands = ToolCaller(project, {ContextReader: context_reader()})
        hands.call(read_context, path=str(project))  # imports what a call needs
        with as_nobody():
            outcome = hands.output(read_context, path=str(project))
            assert ("def main" in outcome.text, outcome.notices) == (True, ("skipped closed: permission denied",))
            failure = hands.failure(read_context, path=str(closed))
            assert failure.message == f"{closed}: permission denied"


def test_a_folder_outside_is_refused_with_a_hint(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    text, failed = ask(path=str(tmp_path / "elsewhere"))
    assert failed
    assert text == f"'{tmp_path}/elsewhere' is outside the project; --root DIR allows another folder"


@pytest.mark.parametrize("target", ["..", "../other", "/etc", "way", "way/secret.txt", "/dev/fd/0", "/proc/self/root"])
def test_a_target_that_leaves_the_folder_is_refused(ask: Ask, tmp_path: Path, project: Path, target: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("secret\n")
    (project / "way").symlink_to(tmp_path / "other")
    assert ask(targets=["src", target]) == (f"{target}: leads outside the project", True)


def test_a_target_must_be_below_the_path(ask: Ask, project: Path) -> None:
    assert ask(path=f"{project}/src", targets=["../README.md"]) == (
        "the target '../README.md' leads out of 'path': targets are files and folders below it",
        True,
    )
    os.mkfifo(project / "pipe")
    assert ask(targets=["pipe"]) == ("the target 'pipe' is neither a file nor a folder", True)
    assert ask(targets=["a\0b"])[1]


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"format": "yaml"}, "format: must be 'text', 'markdown', 'xml' or 'json', not 'yaml'"),
        ({"rules": "!*.log"}, "rules: must be a list, not '!*.log'"),
        ({"targets": [1]}, "targets.0: must be a text, not 1"),
        ({"list_only": 3}, "list_only: must be true or false, not 3"),
        ({"budget": "many"}, "budget: must be a whole number, not 'many'"),
        ({"budget": 0}, "budget is 0: it must be at least 1"),
        ({"budget": 9, "list_only": True}, "'budget' is about the contents of files: leave it out"),
        ({"max_depth": 3}, "no parameter is called 'max_depth' (parameters are path, rules, list_only, format, budget"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_fits(ask: Ask, arguments: dict[str, Any], words: str) -> None:
    text, failed = ask(**arguments)
    assert (failed, text.startswith(words)) == (True, True), text


def test_histories_and_our_own_home_are_kept_from_callers(ask: Ask, project: Path, notes: list[str]) -> None:
    (project / "src" / "history.toml").write_text("canary = 1\n")
    (project / ".marid-home").mkdir()
    (project / ".marid-home" / "config.toml").write_text("# canary\n")
    os.link(project / "src" / "history.toml", project / "src" / "other.toml")
    environ = {"MARID_HOME": str(project / ".marid-home")}
    for wanted in ({}, {"list_only": True}, {"rules": ["history.toml", ".marid-home/"]}):
        text, failed = ask(environ, **wanted)
        assert (failed, "canary" in text, "history.toml" in text, "config.toml" in text) == (False, False, False, False)
    assert "skipped src/other.toml: protected: no tool may use it" in notes
    named = ("src/history.toml", ".marid-home")
    for wanted in ({"path": f"{project}/.marid-home"}, *({"targets": [name]} for name in named)):
        text, failed = ask(environ, **wanted)
        assert (failed, text.endswith(": protected: no tool may use it")) == (True, True)


def test_links_of_the_kernel_are_not_followed_even_where_the_root_is_the_whole_disk(project: Path) -> None:
    """They lead by another name to a home, or to where a descriptor points."""
    home = project / "home"
    home.mkdir()
    (home / "config.py").write_text("canary\n")
    hands = ToolCaller(project, {ContextReader: context_reader()})
    hands.path_scope = PathScope(["/"], home=str(home))
    fd = os.open(project, os.O_RDONLY)
    try:
        roots = ("/proc/self/root", f"/proc/{os.getpid()}/root")
        for way in (
            f"/dev/fd/{fd}",
            f"/proc/self/fd/{fd}",
            *(f"{root}{at}" for root in roots for at in (project, home)),
        ):
            assert hands.failure(read_context, path=way).code == "refused"
            assert hands.failure(read_context, path="/", targets=[way]).code == "refused"
    finally:
        os.close(fd)
    assert "canary" not in hands.text(read_context, path=str(project))


def test_the_result_is_bounded_by_its_own_limit_and_not_clipped(ask: Ask, project: Path) -> None:
    (project / "src" / "long.txt").write_text("x" * 5_000_000)
    text, failed = ask()
    assert (failed, len(text) > 5_000_000, "[cut:" in text) == (False, True, False)


def test_the_callers_own_limit_counts_and_the_error_says_how_to_choose(project: Path) -> None:
    folder = FolderRef(PathScope([str(project)]).resolve(str(project)), str(project))
    with pytest.raises(Exhausted, match=r"(?s)exceeds limit of .*an item of 'rules'"):
        read_context.body(path=folder, contexts=context_reader(), limit=FixedResultLimit(10))
