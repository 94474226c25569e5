"""Looking up one definition, signature or variable of a Python file."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, TypeVar

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.text.display import quote_path
from marid.toolkit.handles import FileRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import ToolSpec, tool
from marid.tools.python_files import python_bytes

if TYPE_CHECKING:
    from marid.syntax.python.edit.definition_text import PythonExcerpt

P = ParamSpec("P")
T = TypeVar("T")
DottedName = Annotated[
    str, "dotted name, such as f, Class.method or outer.inner; f@12 is the f on line 12, where several share the name"
]


def run_on_file(
    file: FileRef,
    workers: Workers,
    work: Callable[Concatenate[bytes, P], T],
    data: bytes,
    /,
    *args: P.args,
    **kw: P.kwargs,
) -> T:
    """What `work` makes of the bytes of a file; its errors name the path as it was given.

    Raises: BadInput, NotFound, Exhausted, Unavailable.
    """
    try:
        return workers.run(work, data, *args, **kw)
    except (BadInput, NotFound, Exhausted) as error:
        raise type(error)(f"'{quote_path(file.raw)}': {error}") from error


def _excerpt_result(found: "PythonExcerpt") -> ToolOutput:
    return ToolOutput(text=found.text, values={"start_line": found.first_line, "end_line": found.last_line})


@tool(family="python", effect=Effect.READ)
def py_get_definition(path: FileRef, name: DottedName, *, workers: Workers) -> ToolOutput:
    """Get the whole source of a Python function, method or class by its dotted name.

    The text is the file's own lines, unchanged, from the first decorator to the last line, with their indentation.
    Definitions inside `if`, `try`, `with` and loops belong to the scope around; those inside a function are
    `outer.inner`. A name that is defined more than once (overloads, property setters) is an error that lists the
    lines: ask for `name@line`. A file that does not parse is an error with the line.
    """
    from marid.syntax.python.edit.definition_text import find_definition  # imported when used, as all that parses

    return _excerpt_result(run_on_file(path, workers, find_definition, python_bytes(path), name))


@tool(family="python", effect=Effect.READ)
def py_get_signature(path: FileRef, name: DottedName, *, workers: Workers) -> ToolOutput:
    """Get the signature of a Python function, method or class: from `def` or `class` to the colon.

    Decorators and the indentation before `def` are left out; further lines are as in the file.
    """
    from marid.syntax.python.edit.definition_text import find_signature

    return _excerpt_result(run_on_file(path, workers, find_signature, python_bytes(path), name))


@tool(family="python", effect=Effect.READ)
def py_get_var_declaration(path: FileRef, name: DottedName, *, workers: Workers) -> ToolOutput:
    """Get the line or lines that assign a variable of a Python module or class (`NAME` or `Class.name`).

    Plain, annotated and tuple assignments and type aliases count; `+=`, `:=`, imports, loop variables, locals of
    functions and attributes of `self` do not. The text is the whole lines, comments included; a declaration that
    shares its line with other code is given alone. A name assigned more than once is an error that lists the lines:
    ask for `name@line`.
    """
    from marid.syntax.python.edit.definition_text import find_declaration

    return _excerpt_result(run_on_file(path, workers, find_declaration, python_bytes(path), name))


TOOLS: tuple[ToolSpec, ...] = (py_get_definition, py_get_signature, py_get_var_declaration)
