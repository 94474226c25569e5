"""Input made to hurt a parser never freezes or kills the program, and other calls go on meanwhile."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

import marid
from marid.toolkit.outcome import Outcome, ToolFailure
from marid.workbench import Workbench

HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a forest of brackets": ("a.cpp", lambda: b"<" * 6_000_000),
    "deep parentheses": ("b.cpp", lambda: b"int x = " + b"(" * 1_000_000 + b"1"),
    "deep namespaces": ("c.cpp", lambda: b"namespace a {" * 100_000),
    "minus signs": ("d.py", lambda: b"-" * 100_000 + b"1"),
    "python parentheses": ("e.py", lambda: b"(" * 1_000 + b")" * 1_000),
    "a long sum": ("f.py", lambda: b"x = " + b"+".join([b"a"] * 100_000)),
    "a long chain": ("g.py", lambda: b"x = " + b".".join([b"a"] * 100_000)),
    "a huge number": ("h.py", lambda: b"x = " + b"9" * 10_000_000),
    "deep lists": ("i.py", lambda: b"x = " + b"[" * 100_000),
    "nested functions": ("j.py", lambda: b"".join(b" " * n + b"def f():\n" for n in range(90)) + b" " * 90 + b"pass\n"),
}
TOOLS = {
    ".py": ("py_get_code_outline", "py_get_skeleton", "py_check_syntax", "get_code_outline", "get_file_summary"),
    ".cpp": ("ts_cpp_get_code_outline", "get_skeleton", "get_file_summary"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_an_answer_and_other_calls_go_on_meanwhile(name: str, tmp_path: Path) -> None:
    file, make = HOSTILE[name]
    project = tmp_path / "project"
    project.mkdir()
    (project / file).write_bytes(make())
    (project / "fine.py").write_text("def fine():\n    return 1\n")
    outcomes: list[Outcome] = []

    async def hostile(app: Workbench, tool: str) -> None:
        outcomes.append(await app.call(tool, path=file))

    async def main() -> None:
        with anyio.fail_after(50):
            async with marid.open_app(project, home=tmp_path / "home") as app, anyio.create_task_group() as group:
                for tool in TOOLS[Path(file).suffix]:
                    group.start_soon(hostile, app, tool)
                for _ in range(20):
                    read = await app.call("read_file", path="fine.py")
                    assert read.ok

    anyio.run(main)
    # A file that is too hard is told so; nothing else than that may be wrong.
    assert {outcome.code for outcome in outcomes if isinstance(outcome, ToolFailure)} <= {"exhausted", "bad_input"}
    assert not [outcome.text for outcome in outcomes if "Traceback" in outcome.text]


def test_an_expression_without_end_is_given_up_while_other_calls_go_on(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("a" * 60 + "!\n")
    (project / "fine.py").write_text("x = 1\n")
    outcomes: list[Outcome] = []

    async def main() -> None:
        with anyio.fail_after(50):
            async with marid.open_app(project, home=tmp_path / "home") as app, anyio.create_task_group() as group:

                async def search(tool: str) -> None:
                    outcomes.append(
                        await app.call(tool, path="." if tool == "grep_files" else "a.txt", pattern="(a+)+$")
                    )

                group.start_soon(search, "grep_files")
                group.start_soon(search, "file_grep")
                for _ in range(20):
                    assert (await app.call("file_head", path="a.txt")).ok
                    assert (await app.call("py_check_syntax", path="fine.py")).text == "OK"
                assert outcomes == []  # both searches are still at it

    anyio.run(main)
    assert [outcome.ok for outcome in outcomes] == [False, False]
    assert {outcome.code for outcome in outcomes if isinstance(outcome, ToolFailure)} == {"exhausted"}
