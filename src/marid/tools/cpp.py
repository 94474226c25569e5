"""Looking into and changing C and C++."""

from collections.abc import Callable
from typing import Annotated

from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.syntax.cfamily import source_views
from marid.syntax.cfamily.edit import update_definition
from marid.syntax.languages import fence_of
from marid.syntax.treesitter.nodes import CodeExcerpt
from marid.text.decode import line_count, to_utf8
from marid.text.display import escape_text, quote_path
from marid.toolkit.handles import FileRef, TargetRef
from marid.toolkit.outcome import EditPlan, ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import read_bytes

_CNAME = "a function, type, variable or macro; several of one name: 'name(int)' by parameters, 'name@12' by line"
_CPPNAME = "as in 'Shop::total'; namespaces may be omitted; overloads: 'f(int)' by parameters, 'f@12' by line"
_CONTENT = "the whole new definition; it takes the file's line ends"


@tool(family="cpp", effect=Effect.READ)
def ts_c_get_skeleton(path: FileRef, *, workers: Workers) -> ToolOutput:
    """Show a C file with `{ ... }` for the body of every function.

    Signatures, types, macros, variables and the comments before them are kept; long values are cut.
    """
    return _skeleton(path, workers, "c")


@tool(family="cpp", effect=Effect.READ)
def ts_cpp_get_skeleton(path: FileRef, *, workers: Workers) -> ToolOutput:
    """Show a C++ file with `{ ... }` for the body of every function.

    Classes with their bases, methods, templates and the comments before them are kept; long values are cut.
    """
    return _skeleton(path, workers, "cpp")


@tool(family="cpp", effect=Effect.READ)
def ts_c_get_code_outline(path: FileRef, *, workers: Workers) -> ToolOutput:
    """List what a C file declares: `[Struct] name (Lines X-Y)` a line, members indented."""
    return _outline(path, workers, "c")


@tool(family="cpp", effect=Effect.READ)
def ts_cpp_get_code_outline(path: FileRef, *, workers: Workers) -> ToolOutput:
    """List what a C++ file declares: `[Class] name (Lines X-Y) : bases` a line, members indented."""
    return _outline(path, workers, "cpp")


@tool(family="cpp", effect=Effect.READ)
def ts_c_get_definition(path: FileRef, name: Annotated[str, _CNAME], *, workers: Workers) -> ToolOutput:
    """Show the whole source of one C function, type, variable or macro.

    A definition goes before its declarations. If there is no such name, the error lists the nearest ones.
    """
    return _excerpt(path, name, workers, "c", source_views.definition)


@tool(family="cpp", effect=Effect.READ)
def ts_cpp_get_definition(path: FileRef, name: Annotated[str, _CPPNAME], *, workers: Workers) -> ToolOutput:
    """Show the whole source of one C++ class, function, method or other definition, template head included.

    A definition goes before its declarations, a class before its constructors (`Shop::Shop`), a template before its
    specialisations (`Hash<int>`). All overloads are shown. If there is no such name, the error lists the nearest ones.
    """
    return _excerpt(path, name, workers, "cpp", source_views.definition)


@tool(family="cpp", effect=Effect.WRITE)
def ts_c_update_definition(
    path: TargetRef, name: Annotated[str, _CNAME], new_content: Annotated[str, _CONTENT], *, workers: Workers
) -> EditPlan:
    """Replace one C definition, and nothing around it.

    Refused if the name is ambiguous, the content empty, or the file would parse worse than before.
    """
    return _update(path, (name, new_content), workers, "c")


@tool(family="cpp", effect=Effect.WRITE)
def ts_cpp_update_definition(
    path: TargetRef, name: Annotated[str, _CPPNAME], new_content: Annotated[str, _CONTENT], *, workers: Workers
) -> EditPlan:
    """Replace one C++ definition with its template head, and nothing around it.

    Refused if the name is ambiguous, the content empty, or the file would parse worse than before.
    """
    return _update(path, (name, new_content), workers, "cpp")


@tool(family="cpp", effect=Effect.READ)
def ts_c_get_signature(path: FileRef, name: Annotated[str, _CNAME], *, workers: Workers) -> ToolOutput:
    """Show how one C function or type is declared, without its body."""
    return _excerpt(path, name, workers, "c", source_views.signatures)


@tool(family="cpp", effect=Effect.READ)
def ts_cpp_get_signature(path: FileRef, name: Annotated[str, _CPPNAME], *, workers: Workers) -> ToolOutput:
    """Show how one C++ function, method or class is declared, with its template head and bases, without its body."""
    return _excerpt(path, name, workers, "cpp", source_views.signatures)


def _skeleton(path: FileRef, workers: Workers, language: str) -> ToolOutput:
    data, _ = _read_source(path)
    text = workers.run(source_views.skeleton, data, _choose_grammar(path, language))
    return ToolOutput(text=text, values={"lines": line_count(data)})


def _outline(path: FileRef, workers: Workers, language: str) -> ToolOutput:
    data, _ = _read_source(path)
    text = workers.run(source_views.outline, data, _choose_grammar(path, language))
    count = text.count("\n") + bool(text)
    return ToolOutput(text=text or f"{quote_path(path.raw)} declares nothing", values={"count": count})


def _excerpt(
    path: FileRef, name: str, workers: Workers, language: str, view: Callable[[bytes, str, str, str], CodeExcerpt]
) -> ToolOutput:
    data, _ = _read_source(path)
    found = workers.run(view, data, _choose_grammar(path, language), name, quote_path(path.raw))
    return ToolOutput(text=found.text, values={"lines": [list(span) for span in found.spans]})


def _update(path: TargetRef, change: tuple[str, str], workers: Workers, language: str) -> EditPlan:
    name, new_content = change
    where = quote_path(path.raw)
    data, encoding = _read_source(path)
    try:
        content = new_content.encode()
        made = workers.run(update_definition, data, _choose_grammar(path, language), name, content, where)
        after = made.data if encoding == "utf-8" else made.data.decode().encode(encoding)
    except UnicodeEncodeError as error:
        raise BadInput(f"new_content has characters that {where} cannot hold, which is in {encoding}") from error
    before = data if encoding == "utf-8" else data.decode().encode(encoding)
    text = "Replaced '{}' in {}: lines {}-{}, now {}-{}.".format(escape_text(name), where, *made.before, *made.after)
    values = {"before": list(made.before), "after": list(made.after)}
    return EditPlan(changes=(path.change(before, after),), text=text, values=values)


def _choose_grammar(path: FileRef, asked: str) -> str:
    """What is C++ by its name is read as that by the tools for C too; a `.h` is what the caller takes it for."""
    return "cpp" if fence_of(path.name) == "cpp" and not path.name.endswith(".h") else asked


def _read_source(path: FileRef) -> tuple[bytes, str]:
    """The file as UTF-8 and the encoding that it had, told apart from what is no C or C++ by name and first bytes."""
    where = quote_path(path.raw)
    if fence_of(path.name) not in ("", "c", "cpp", "objectivec"):
        raise BadInput(f"{where} is no C or C++ file: get_code_outline and get_definition read other languages")
    found = to_utf8(read_bytes(path))
    if found is None:
        raise BadInput(f"{where} is a binary file, not C or C++")
    if found[1].startswith("utf-") and found[1] != "utf-8" and isinstance(path, TargetRef):
        raise BadInput(f"{where} is {found[1].upper()}: only UTF-8 and one-byte encodings can be changed")
    return found
