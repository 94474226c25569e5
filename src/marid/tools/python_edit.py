"""Changing Python by its structure."""

from collections.abc import Callable
from typing import Annotated, Concatenate, ParamSpec

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.syntax.python.edit import additions, edits
from marid.syntax.python.edit.additions import AnchorType, InsertionAnchor
from marid.syntax.python.edit.edits import EditResult
from marid.text.display import quote_path
from marid.toolkit.handles import TargetRef
from marid.toolkit.outcome import EditPlan, PlannedChange
from marid.toolkit.spec import tool
from marid.tools.python_files import DottedName, python_bytes, run_on_bytes
from marid.workspace.guard.api import MAX_FILE_BYTES

P = ParamSpec("P")
NewCode = Annotated[str, "the new code, at any indentation: it is indented to where it lands, in the file's own style"]
InsertPosition = Annotated[AnchorType, "top or bottom of the scope, or before or after anchor_symbol"]
AnchorSymbol = Annotated[str, "the name to put it before or after: a function, class or variable of the same scope"]


@tool(family="python", effect=Effect.WRITE)
def py_update_definition(path: TargetRef, name: DottedName, new_content: NewCode, *, workers: Workers) -> EditPlan:
    """Replace a Python function, method or class by new source.

    What is replaced is what `py_get_definition` shows, decorators included, so give the decorators again; comments
    above stay. The new code may define another name or several. All other bytes, the line endings and the indentation
    style of the file are kept; nothing is changed if the result would not parse. A name defined more than once is an
    error: use `name@line`. To remove a definition use `py_remove_def`.
    """
    edited, change = _run_edit(path, workers, edits.update_definition, name, new_content)
    return _plan_edit(f"updated '{name}' in {_quote_path(path)}: {_span(edited)}", edited, change)


@tool(family="python", effect=Effect.WRITE)
def py_set_signature(
    path: TargetRef,
    name: DottedName,
    new_signature: Annotated[str, "from 'def', 'async def' or 'class' to the colon, on one line or more"],
    *,
    workers: Workers,
) -> EditPlan:
    """Replace only the signature of a Python function, method or class; decorators and body stay.

    A missing colon is supplied. Another name in it renames the definition, not its uses.
    """
    edited, change = _run_edit(path, workers, edits.set_signature, name, new_signature)
    return _plan_edit(f"set the signature of '{name}' in {_quote_path(path)}: line {edited.first_line}", edited, change)


@tool(family="python", effect=Effect.WRITE)
def py_set_var_declaration(
    path: TargetRef,
    name: DottedName,
    new_declaration: Annotated[str, "the whole new statement, such as LIMIT: int = 3"],
    *,
    workers: Workers,
) -> EditPlan:
    """Replace the assignment of a variable of a Python module or class (`NAME` or `Class.name`).

    What is replaced is what `py_get_var_declaration` shows: the whole lines, comments on them included. A declaration
    that shares its line with other code must be replaced by one statement without a comment.
    """
    edited, change = _run_edit(path, workers, edits.set_declaration, name, new_declaration)
    return _plan_edit(f"set '{name}' in {_quote_path(path)}: line {edited.first_line}", edited, change)


@tool(family="python", effect=Effect.WRITE)
def py_remove_def(path: TargetRef, name: DottedName, *, workers: Workers) -> EditPlan:
    """Remove a Python function, method or class, decorators included.

    Comments above it stay. A block that would be left empty gets `pass`. Uses of the name are not looked for.
    """
    edited, change = _run_edit(path, workers, edits.remove_definition, name)
    return _plan_edit(f"removed '{name}' from {_quote_path(path)}, line {edited.first_line}", edited, change)


@tool(family="python", effect=Effect.WRITE)
def py_add_def(  # noqa: PLR0913 - the parameters are the document's
    path: TargetRef,
    name: Annotated[str, "the dotted name the definition will have: f, or Class.method to put it into that class"],
    new_content: NewCode,
    anchor_type: InsertPosition = "bottom",
    anchor_symbol: AnchorSymbol = "",
    *,
    workers: Workers,
) -> EditPlan:
    """Add a function, method or class to a Python file that exists, at a place given by names.

    The new code must define the last part of `name`, and may bring more. `top` is behind the docstring and, in a
    module, the imports at its head. Blank lines are set as between the neighbours. A name that is there already is an
    error, unless decorators (overload, setter) tell the two apart.
    """
    anchor = InsertionAnchor(kind=anchor_type, symbol=anchor_symbol)
    edited, change = _run_edit(path, workers, additions.add_definition, name, new_content, anchor)
    return _plan_edit(f"added '{name}' to {_quote_path(path)}: {_span(edited)}", edited, change)


@tool(family="python", effect=Effect.WRITE)
def py_move_def(  # noqa: PLR0913, PLR0917 - the parameters are the document's
    src_path: Annotated[TargetRef, "path of the file that it is in"],
    dest_path: Annotated[TargetRef, "path of the file that it goes to; one that is not there is made"],
    name: DottedName,
    dest_name: Annotated[str, "the dotted name it will have, such as Class.method; empty: the same name"] = "",
    anchor_type: InsertPosition = "bottom",
    anchor_symbol: AnchorSymbol = "",
    *,
    workers: Workers,
) -> EditPlan:
    """Move a Python function, method or class to another place, in the same file or another one.

    It is indented to where it lands; a file that is not there yet is made. Only the definition moves: imports that it
    needs, uses of it elsewhere and comments above it are not touched, so check them afterwards. A new last part of
    `dest_name` renames the definition itself. Both files are changed, or none.
    """
    anchor = InsertionAnchor(kind=anchor_type, symbol=anchor_symbol)
    dest_name = dest_name.strip() or name.partition("@")[0].strip()
    if src_path.path == dest_path.path:
        edited, change = _run_edit(src_path, workers, additions.move_definition, name, dest_name, anchor)
        changes = (change,)
    else:
        before = python_bytes(src_path)
        taken = run_on_bytes(
            src_path, workers, additions.extract_definition, before, name, dest_name.rpartition(".")[2]
        )
        there = _read_if_exists(dest_path)
        edited = run_on_bytes(dest_path, workers, additions.add_definition, there or b"", dest_name, taken.text, anchor)
        changes = (_make_change(dest_path, there, edited), _make_change(src_path, before, taken.rest))
    where = f"'{dest_name}' in {_quote_path(dest_path)}: {_span(edited)}"
    return _plan_edit(f"moved '{name}' from {_quote_path(src_path)} to {where}", edited, *changes)


@tool(family="python", effect=Effect.WRITE)
def py_region_wrap(
    path: TargetRef,
    start_line: Annotated[int, "first line of the region, from 1"],
    end_line: Annotated[int, "last line of the region, included"],
    region_name: Annotated[str, "one line of text"],
    *,
    workers: Workers,
) -> EditPlan:
    """Put `#region NAME` and `#endregion` around lines of a Python file.

    Both comments are indented as the first line. Refused where one of them would change the code, as inside a string,
    or push away a first line that begins with `#!` or declares the encoding.
    """
    edited, change = _run_edit(path, workers, edits.wrap_region, start_line, end_line, region_name)
    return _plan_edit(f"wrapped lines {start_line}-{end_line} of {_quote_path(path)} in a region", edited, change)


def _quote_path(file: TargetRef) -> str:
    return f"'{quote_path(file.raw)}'"


def _span(edited: EditResult) -> str:
    return f"lines {edited.first_line}-{edited.last_line}"


def _run_edit(
    file: TargetRef,
    workers: Workers,
    work: Callable[Concatenate[bytes, P], EditResult],
    /,
    *args: P.args,
    **kw: P.kwargs,
) -> tuple[EditResult, PlannedChange]:
    before = python_bytes(file)
    edited = run_on_bytes(file, workers, work, before, *args, **kw)
    return edited, _make_change(file, before, edited)


def _make_change(file: TargetRef, before: bytes | None, edited: EditResult) -> PlannedChange:
    if len(edited.data) > MAX_FILE_BYTES:
        raise Exhausted(f"{_quote_path(file)} would be larger than {MAX_FILE_BYTES:,} bytes")
    return file.change(before, edited.data)


def _read_if_exists(file: TargetRef) -> bytes | None:
    try:
        return python_bytes(file)
    except NotFound as error:
        if not file.raw.endswith((".py", ".pyi", ".pyw")):
            raise BadInput(f"{_quote_path(file)} is not there, and would be no Python file by its name") from error
        return None


def _plan_edit(text: str, edited: EditResult, *changes: PlannedChange) -> EditPlan:
    return EditPlan(changes=changes, text=text, values={"start_line": edited.first_line, "end_line": edited.last_line})
