"""What a start costs: a plain run may not import what it does not need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from marid import __version__
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import MESSAGE, Entry

# Each of these costs more than a small project does, or brings such a one.
HEAVY = """
    argparse asyncio click dataclasses hashlib hyperscan importlib.metadata inspect json logging markdown_it mcp
    multiprocessing pathlib pydantic pygments rich socket splintr sqlite3 subprocess tempfile tokenize tomllib traceback
    tree_sitter unicodedata watchfiles
"""

PROBE = """
import json, sys
before = set(sys.modules)
from marid.launch.start import run
code = run(["marid", *sys.argv[1:]])
modules = sorted(set(sys.modules) - before)
import os
os.write(2, json.dumps([code, modules]).encode())
"""


def imported(folder: Path, *args: str) -> list[str]:
    # What a measured test run adds to every process would hide what we import ourselves.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    env["MARID_HOME"] = str(folder / "home")
    command = [sys.executable, "-c", PROBE, *args]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=60, check=True)
    code, modules = json.loads(done.stderr)
    assert code == 0
    return modules


@pytest.mark.parametrize(
    "args",
    [
        ["context"],
        ["context", "-l", "."],
        ["context", "-o", "out.txt", "--rule", "!*.md"],
        ["context", "-q", "-0", "-l"],
    ],
)
def test_a_plain_run_imports_nothing_heavy(tmp_path: Path, args: list[str]) -> None:
    for name in ("a.py", "b.md", "src/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    modules = imported(tmp_path, *args)
    assert [name for name in HEAVY.split() if name in modules] == []
    assert "marid.assembly.pipeline" in modules


# What a list of names needs none of, whatever else is imported one day.
FOR_TALKING = """
    anyio argparse asyncio click difflib email hashlib hyperscan httpx inspect importlib.metadata logging markdown_it
    mcp multiprocessing pathlib pydantic pygments rich socket splintr sqlite3 ssl subprocess tempfile tomlkit tomllib
    traceback tree_sitter unicodedata watchfiles
    marid.faces.cli.chat.chat_round marid.app.rounds marid.engine marid.toolkit
"""


@pytest.mark.parametrize(
    "args", [["conversations"], ["conversations", "list"], ["conversations", "--json"], ["-L"], ["log", "work"]]
)
def test_looking_at_conversations_imports_nothing_that_talks(tmp_path: Path, args: list[str]) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={})
    with scope.stores.conversations.open("work", create=True) as held:
        held.append([Entry(entry_type=MESSAGE, content="hello", sender="user", to="work")])
    modules = imported(tmp_path, *args)
    assert [name for name in FOR_TALKING.split() if name in modules] == []
    assert "marid.adapters.store.conversations" in modules


def test_an_answer_in_a_pipe_imports_nothing_that_renders(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# hello\n")
    modules = imported(tmp_path, "--set", "model=offline:offline", "say", "hello")
    assert [
        name for name in ("markdown_it", "pygments", "rich", "marid.faces.cli.view.markdown") if name in modules
    ] == []
    assert "marid.faces.cli.view.answer_output" in modules


def test_the_version_is_told_before_anything_is_imported(tmp_path: Path) -> None:
    probe = (
        "import sys\nbefore = set(sys.modules)\nsys.argv = ['marid', '--version']\nfrom marid.__main__ import main\n"
    )
    probe += "main()\nprint(*sorted(set(sys.modules) - before))\n"
    # Without what a development environment loads at every start.
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{probe}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True)
    version, modules = done.stdout.splitlines()
    assert version == f"marid {__version__}"
    ours = {"marid", "marid.__main__", "marid.core", "marid.core.version"}
    assert {name for name in modules.split() if name.startswith("marid")} == ours
    # With `os` come five more, which a start with `site` has anyway.
    assert len(set(modules.split()) - ours) < 10


def test_the_version_and_the_help_import_no_command(tmp_path: Path) -> None:
    for args in (["--version"], ["--help"]):
        modules = imported(tmp_path, *args)
        assert [name for name in modules if name.startswith(("marid.faces.mcp", "mcp", "marid.adapters"))] == []


# What only a call needs, and what only some calls do.
FOR_CALLS = """
    anyio asyncio hashlib pydantic pydantic_core sqlite3
    marid.bootstrap.call_pipeline marid.toolkit.dispatch marid.toolkit.params
"""
# What a plain call of a tool that reads does without.
FOR_OTHER_CALLS = """
    anyio asyncio click email importlib.metadata pydantic socket sqlite3 ssl
    marid.toolkit.approval_broker marid.toolkit.plan_executor marid.tools.builtin marid.tools.shell
    marid.workspace.write.commit
"""
FOR_FEW_CALLS = """
    difflib html httpcore2 hyperscan mcp multiprocessing splintr tomlkit tree_sitter watchfiles
    marid.adapters.sandbox.bubblewrap marid.adapters.web.client marid.adapters.workers.pool
"""


@pytest.mark.parametrize("args", [["tools"], ["tools", "--read-only"], ["tool", "--help"]])
def test_listing_the_tools_imports_nothing_that_calls_them(tmp_path: Path, args: list[str]) -> None:
    modules = imported(tmp_path, *args)
    assert [name for name in (FOR_CALLS + FOR_FEW_CALLS).split() if name in modules] == []
    assert "marid.tools.shell" in modules


def test_a_call_imports_only_what_its_tool_needs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    modules = imported(tmp_path, "tool", "read_file", "--path", "a.txt")
    assert [name for name in (FOR_OTHER_CALLS + FOR_FEW_CALLS).split() if name in modules] == []
    assert [name for name in modules if name.startswith("marid.syntax")] == []
    assert "marid.toolkit.params" in modules
