"""`python -m bench.tools`: measure, print, compare; exit 1 when a limit does not hold."""

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio

from bench import page
from bench.context.surroundings import machine
from bench.tools.sources import prepare
from bench.tools.trials import Trial, Work, markdown, measure, table
from marid.workbench import Workbench, open_app


def main() -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.tools", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, metavar="N", help="how often everything is run (default 21)")
    parser.add_argument("--write-docs", action="store_true", help="only write the last run into docs/comparison.md")
    options = parser.parse_args()
    if options.write_docs:
        return write_docs()
    folder = prepare(Path(tempfile.gettempdir(), "marid-bench-tools"))
    with tempfile.TemporaryDirectory() as home:
        return anyio.run(partial(bench, folder, Path(home), options.rounds))


def write_docs() -> int:
    """Write the last run into the page."""
    found = page.newest("tools")
    if found is None:
        return 1
    page.write("tools", f"{markdown(found['rows'])}\n\nOn {found['machine']}; {found['rounds']} rounds.")
    return 0


async def bench(folder: Path, home: Path, rounds: int) -> int:
    """Measure the tools on the sources in `folder`."""
    async with open_app(root=folder, home=home) as app:
        found = await measure([*parsing(app, folder), *calling(app, folder), *searching(app, folder)], rounds)
    print(table(found))
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    facts = {"machine": machine(), "rounds": rounds, "rows": [one.facts() for one in found]}
    page.RESULTS.mkdir(exist_ok=True)
    path = page.RESULTS / f"tools-{stamp}.json"
    path.write_text(json.dumps(facts, indent=2) + "\n")
    print(f"\nsaved in bench/results/{path.name}")
    return int(any(one.verdict() == "FAIL" for one in found))


def tool(app: Workbench, name: str, /, **args: object) -> Work:
    """A call that must succeed."""

    async def call() -> None:
        result = await app.call(name, **args)
        if not result.ok:
            raise SystemExit(f"{name}: {result.text}")

    return call


def plain(work: Callable[[], object]) -> Work:
    """A floor that runs in this thread."""

    async def call() -> None:
        work()

    return call


def hop(work: Callable[[], object]) -> Work:
    """A floor that runs in a thread of an executor."""

    async def call() -> None:
        await anyio.to_thread.run_sync(work)

    return call


def parsing(app: Workbench, folder: Path) -> list[Trial]:
    """Tools that should be as fast as a parser."""
    python, cpp = folder / "long.py", folder / "long.cpp"
    parse = plain(lambda: ast.parse(python.read_bytes()))
    tree = plain(lambda: tree_sitter_cpp(cpp.read_bytes()))
    rows = [("py_get_code_outline", python, parse), ("py_get_skeleton", python, parse)]
    rows += [("ts_cpp_get_code_outline", cpp, tree), ("ts_cpp_get_skeleton", cpp, tree)]
    return [
        Trial(
            name=f"{name}, {5_000:,} lines",
            floor_name="ast.parse" if floor is parse else "tree-sitter's parse",
            ours=tool(app, name, path=file.name),
            floor=floor,
            times=2.0,
        )
        for name, file, floor in rows
    ]


def tree_sitter_cpp(data: bytes) -> object:
    """The bare parse."""
    import tree_sitter
    import tree_sitter_cpp as grammar

    return tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(data)


def calling(app: Workbench, folder: Path) -> list[Trial]:
    """The call pipeline itself."""
    small = folder / "tree" / "chain" / "step0.py"
    files = sorted((folder / "tree").rglob("*.py"))[:100]
    read = tool(app, "read_file", path=str(small.relative_to(folder)))

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for file in files:
                group.start_soon(tool(app, "read_file", path=str(file.relative_to(folder))))

    async def hops() -> None:
        async with anyio.create_task_group() as group:
            for file in files:
                group.start_soon(hop(file.read_text))

    def reads() -> None:
        for file in files:
            file.read_bytes()

    trial = partial(Trial, calls=100)
    bar = partial(trial, times=1.5, extra=0.00015)
    single = times(100, hop(small.read_text))
    return [
        bar(
            name="one read_file of a small file",
            floor_name="the same read in an executor",
            ours=times(100, read),
            floor=single,
        ),
        bar(name="100 parallel read_file", floor_name="100 executor hops that read", ours=many, floor=hops),
        trial(name="100 parallel read_file", floor_name="100 plain reads", ours=many, floor=plain(reads)),
    ]


def times(count: int, work: Work) -> Work:
    """The same work `count` times, one after the other."""

    async def call() -> None:
        for _ in range(count):
            await work()

    return call


def searching(app: Workbench, folder: Path) -> list[Trial]:
    """Tools that search the tree of 2,000 files."""
    tree = folder / "tree"
    start = "tree/chain/step0.py::go"
    visited = [tree / "chain" / f"step{number}.py" for number in range(8)]

    def parse_visited() -> None:
        for file in visited:
            ast.parse(file.read_bytes())

    def read_all() -> None:
        for file in tree.rglob("*.py"):
            file.read_bytes()

    rows = [
        Trial(
            name="derive_code_path, 8 steps in 2,000 files",
            floor_name="a plain read of all files",
            ours=tool(app, "derive_code_path", target=start, max_depth=20),
            floor=plain(read_all),
            times=1.0,
        ),
        Trial(
            name="derive_code_path, the same",
            floor_name="ast.parse of the 8 files",
            ours=tool(app, "derive_code_path", target=start, max_depth=20),
            floor=plain(parse_visited),
        ),
    ]
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        print("rg is not installed; its rows are left out", file=sys.stderr)
        return rows
    patterns = [
        ("py_find_usages", "a rare name", "_format_actions_usage", 3.0),
        ("py_find_usages", "a frequent name", "self", 3.0),
        ("grep_files", "a rare literal", "_format_actions_usage", 3.0),
        ("grep_files", "a frequent literal", "import", 3.0),
        ("grep_files", "a pattern with a literal", r"def _?format_\w+\(", 3.0),
        ("grep_files", "a pattern without one, rare", r"[a-z]{9}_[0-9]{6}", 12.0),
        ("grep_files", "a pattern without one, cap", r"[a-z]+_[0-9]+", 3.0),
    ]
    for name, description, pattern, bar in patterns:
        usages = name == "py_find_usages"
        ours = tool(app, name, path="tree", **{"name" if usages else "pattern": pattern})
        argv = [ripgrep, "-n", *(("-w", "-F", "-tpy") if usages else ("-C2",)), "-e", pattern, str(tree)]
        floor = plain(partial(subprocess.run, argv, stdout=subprocess.PIPE, check=False))
        rows.append(Trial(name=f"{name}, {description}", floor_name="rg", ours=ours, floor=floor, times=bar))
    return rows


if __name__ == "__main__":
    sys.exit(main())
