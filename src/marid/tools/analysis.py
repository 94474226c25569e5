"""Summaries of files and paths of calls."""

from typing import Annotated

from marid.core.errors import BadInput, Exhausted, MaridError
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.syntax.file_summary import file_summary
from marid.syntax.python.resolve.call_graph import MAX_DEPTH, CallTrace, trace_calls
from marid.syntax.python.resolve.fact_reader import py_facts
from marid.syntax.python.resolve.facts import FileFacts
from marid.syntax.python.resolve.resolver import ModuleIndex, Resolver
from marid.syntax.python.resolve.target import find_target
from marid.text.display import quote_path
from marid.toolkit.handles import FileRef, FolderRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.python_files import PythonFiles
from marid.tools.text_files import read_bytes

_FAMILY = "analysis"
_MAX_CHARACTERS = 40_000


@tool(family=_FAMILY, effect=Effect.READ)
def get_file_summary(path: Annotated[FileRef, "a file of any kind"], *, workers: Workers) -> ToolOutput:
    """Tell what a file is and what is in it, without its text.

    Python: imports, classes with their methods, functions, constants. TOML: tables with their keys. JSON and YAML:
    top-level keys. Markdown: headings. Code of other known languages: what it defines. All others: kind, size, lines.
    """
    data = read_bytes(path)
    try:
        text = workers.run(file_summary, path.name, data)
    except MaridError as error:
        raise type(error)(f"'{quote_path(path.raw)}': {error}") from error
    more = len(text) > _MAX_CHARACTERS
    if more:
        text = text[:_MAX_CHARACTERS].rpartition("\n")[0] + "\n(the rest is left out: read parts of the file instead)"
    return ToolOutput(text=f"{quote_path(path.raw)}: {text}", values={"bytes": len(data), "truncated": more})


@tool(family=_FAMILY, effect=Effect.READ, timeout=60.0)
def derive_code_path(
    target: Annotated[str, "`path.py::Class.method`, `path.py::function`, or a dotted name: `package.module.function`"],
    max_depth: Annotated[int, "how many levels of calls to follow, from 1"] = 3,
    path: Annotated[FolderRef, "the folder whose Python files are searched"] = ".",  # pyright: ignore[reportArgumentType]
    *,
    workers: Workers,
) -> ToolOutput:
    """Follow the calls of a Python function across files: a tree of `name (path:line)`.

    Imports, class hierarchies, `self`, `super()`, constructors and annotations are followed without running anything.
    Calls into libraries and builtins are listed as `external:`, what cannot be known as `unresolved:`. `[cycle]` marks
    a function that led here, `[shown elsewhere]` one whose calls stand at another place of the tree. A class stands for
    its constructor, a bare `path.py` for the code outside functions.
    """
    if max_depth < 1:
        raise BadInput("max_depth: at least 1")
    tree = PythonFiles(path)
    broken: dict[str, str] = {}

    def load(file: str) -> FileFacts | None:
        try:
            return workers.run(py_facts, tree[file])
        except (BadInput, Exhausted) as error:
            broken[file] = str(error)
            return None

    resolver = Resolver(ModuleIndex(tree), load)
    found = trace_calls(resolver, find_target(resolver, tree, target), max_depth)
    notes = [
        *_notes(found, max_depth),
        *(f"({quote_path(file)} is not understood: {why})" for file, why in broken.items()),
    ]
    if tree.skipped:
        notes.append(f"({tree.skipped} Python files could not be read or are too large)")
    values = {"functions": found.functions, "unfollowed": found.unfollowed, "truncated": bool(found.dropped)}
    return ToolOutput(text="\n".join([*found.lines, *notes]), values=values)


def _notes(found: CallTrace, depth: int) -> list[str]:
    notes: list[str] = []
    if found.dropped:
        notes.append(f"(left out for length: {found.dropped} calls; start further down, or lower max_depth)")
    if found.unfollowed:
        hint = "" if depth >= MAX_DEPTH else "; raise max_depth to follow them"
        notes.append(f"(not followed below level {min(depth, MAX_DEPTH)}: {found.unfollowed}{hint})")
    return notes
