"""Looking into Python by its structure."""

from collections.abc import Sequence
from typing import Annotated

from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.syntax.python.edit.edits import PythonExcerpt, find_declaration, find_definition, find_signature
from marid.syntax.python.resolve.fact_reader import py_class_facts
from marid.syntax.python.resolve.facts import FileFacts
from marid.syntax.python.resolve.hierarchy import find_subclasses
from marid.syntax.python.source import py_syntax_problem
from marid.syntax.python.source_views import py_class_summary, py_docstring, py_imports, py_outline, py_skeleton
from marid.text.display import quote_path
from marid.toolkit.handles import FileRef, PathRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.python_files import DottedName, PythonFiles, python_bytes, run_on_file
from marid.tools.text_files import with_path_hints

_MAX_LINES = 1000
_FAMILY = "python"
PythonFile = Annotated[FileRef, "a Python file"]


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_skeleton(path: PythonFile, *, workers: Workers) -> ToolOutput:
    """Show a Python file with `...` for the bodies of its functions.

    Signatures, decorators, docstrings and everything outside functions stay as written; the result is valid Python.
    A file that does not parse is an error that names the line.
    """
    return ToolOutput(text=run_on_file(path, workers, py_skeleton))


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_code_outline(path: PythonFile, *, workers: Workers) -> ToolOutput:
    """List what a Python file defines, with the lines of each.

    One line each, `[Kind] name (Lines X-Y)`, members indented below their class; decorators count to the lines. Kinds:
    Class, Function, Async Function, Method, Async Method, Constant (a name in capitals), Variable. What is inside
    functions is left out, and so are imports: py_get_imports lists them.
    """
    text = run_on_file(path, workers, py_outline)
    return ToolOutput(
        text=text or "nothing is defined in this file", values={"definitions": len(text.split("\n")) if text else 0}
    )


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_class_summary(
    path: PythonFile,
    name: Annotated[str, "the class, dotted if it is nested: `Outer.Inner`"],
    *,
    workers: Workers,
) -> ToolOutput:
    """Show a class in short: docstring, variables, signatures of its methods, with lines."""
    return ToolOutput(text=run_on_file(path, workers, py_class_summary, name))


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_imports(path: PythonFile, *, workers: Workers) -> ToolOutput:
    """List every import of a Python file with its line, also those inside functions.

    `values.modules` are the imported modules, each once; a relative one keeps its dots.
    """
    found = run_on_file(path, workers, py_imports)
    lines = [f"{each.text} (Line {each.line}{f', in {each.scope}' if each.scope else ''})" for each in found]
    modules = sorted({module for each in found for module in each.modules})
    return ToolOutput(text="\n".join(lines) or "no imports", values={"modules": modules})


@tool(family=_FAMILY, effect=Effect.READ)
def py_check_syntax(path: PythonFile, *, workers: Workers) -> ToolOutput:
    """Say whether a Python file parses: `OK`, or the line of the first syntax error.

    A syntax error is a result, not a failure of this tool; `values.ok` tells the two apart.
    """
    problem = run_on_file(path, workers, py_syntax_problem)
    if problem is None:
        return ToolOutput(text="OK", values={"ok": True})
    column = f", column {problem.column}" if problem.column else ""
    text = f"Syntax error in {quote_path(path.raw)} at line {problem.line}{column}: {problem.message}"
    return ToolOutput(
        text=text, values={"ok": False, "line": problem.line, "column": problem.column, "message": problem.message}
    )


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_docstring(
    path: PythonFile,
    name: Annotated[str, "a class, function or `Class.method`; `module` for that of the file"],
    *,
    workers: Workers,
) -> ToolOutput:
    """Show the docstring of a module, class, function or method, without its indentation."""
    return ToolOutput(text=run_on_file(path, workers, py_docstring, name))


@tool(family=_FAMILY, effect=Effect.READ, timeout=60.0)
def py_get_hierarchy(
    path: Annotated[PathRef, "the folder to search, or one file"],
    class_name: Annotated[
        str, "the class: `Base`, `Outer.Inner` or `package.module.Base`; a class of a library works too"
    ],
    *,
    workers: Workers,
) -> ToolOutput:
    """List the subclasses of a class, direct and indirect, across the files of a folder.

    An indented tree of `path:line: class X(Base)` lines below the class itself. Imports, aliases and names handed on by
    packages are followed; classes whose base leads nowhere are listed apart. Ignored files are left out.
    """
    with with_path_hints(path):
        is_folder = path.is_folder()
    files = PythonFiles(path) if is_folder else {path.name: python_bytes(path)}
    broken: list[str] = []

    def load_all(paths: Sequence[str]) -> dict[str, FileFacts]:
        calls = [(files[each],) for each in paths]
        done = workers.run_all(py_class_facts, calls, cost=[len(data) for (data,) in calls])
        broken.extend(each for each, file in zip(paths, done, strict=True) if not isinstance(file, FileFacts))
        return {each: file for each, file in zip(paths, done, strict=True) if isinstance(file, FileFacts)}

    family = find_subclasses(files, class_name, load_all)
    notes = [*family.lines[:_MAX_LINES]]
    if len(family.lines) == 1 and not family.count:
        notes.append("no subclasses found")
    if more := len(family.lines) - _MAX_LINES if len(family.lines) > _MAX_LINES else 0:
        notes.append(f"({more} more lines: ask for a class further down or a smaller folder)")
    if broken:
        notes.append(f"(not understood, so left out: {', '.join(map(quote_path, sorted(set(broken))[:10]))})")
    if isinstance(files, PythonFiles) and files.skipped:
        notes.append(f"({files.skipped} files could not be read or are too large)")
    return ToolOutput(text="\n".join(notes), values={"subclasses": family.count, "truncated": bool(more)})


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_definition(path: FileRef, name: DottedName, *, workers: Workers) -> ToolOutput:
    """Get the whole source of a Python function, method or class by its dotted name.

    The text is the file's own lines, unchanged, from the first decorator to the last line, with their indentation.
    Definitions inside `if`, `try`, `with` and loops belong to the scope around; those inside a function are
    `outer.inner`. A name that is defined more than once (overloads, property setters) is an error that lists the
    lines: ask for `name@line`. A file that does not parse is an error with the line.
    """
    return _excerpt_result(run_on_file(path, workers, find_definition, name))


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_signature(path: FileRef, name: DottedName, *, workers: Workers) -> ToolOutput:
    """Get the signature of a Python function, method or class: from `def` or `class` to the colon.

    Decorators and the indentation before `def` are left out; further lines are as in the file.
    """
    return _excerpt_result(run_on_file(path, workers, find_signature, name))


@tool(family=_FAMILY, effect=Effect.READ)
def py_get_var_declaration(path: FileRef, name: DottedName, *, workers: Workers) -> ToolOutput:
    """Get the line or lines that assign a variable of a Python module or class (`NAME` or `Class.name`).

    Plain, annotated and tuple assignments and type aliases count; `+=`, `:=`, imports, loop variables, locals of
    functions and attributes of `self` do not. The text is the whole lines, comments included; a declaration that
    shares its line with other code is given alone. A name assigned more than once is an error that lists the lines:
    ask for `name@line`.
    """
    return _excerpt_result(run_on_file(path, workers, find_declaration, name))


def _excerpt_result(found: PythonExcerpt) -> ToolOutput:
    return ToolOutput(text=found.text, values={"start_line": found.first_line, "end_line": found.last_line})
