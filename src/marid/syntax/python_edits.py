"""Changes to one Python file by the names in it: bytes in, bytes out; all but the changed rows stays as it was."""

import ast
from dataclasses import dataclass

from marid.core.errors import BadInput, Exhausted
from marid.syntax.python_header import fitted_head, head_span
from marid.syntax.python_indent import Style, code, fitted, style
from marid.syntax.python_lookups import declaration_span, end_of, shares_rows
from marid.syntax.python_names import Found, bound, definition, definition_node, members, span, variable
from marid.syntax.python_source import (
    Source,
    checked,
    leading,
    most_used_ending,
    parsed,
    parsed_text,
    plain,
    read,
)


@dataclass(frozen=True, kw_only=True)
class Edited:
    """A file after a change, and the lines that the new text is on, from 1; `last` is the lesser if there is none."""

    data: bytes
    first: int
    last: int


def spliced(source: Source, start: int, end: int, text: str) -> Edited:
    """The file with another text between two places. Raises: BadInput if it would not parse."""
    whole = source.text[:start] + text + source.text[end:]
    first = source.line(start)
    count = text.count("\n") + (bool(text) and not text.endswith("\n"))
    return Edited(data=checked(source, whole), first=first, last=first + count - 1)


def update_definition(data: bytes, name: str, content: str) -> Edited:
    """Put new code in the place of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    tree = parsed(source)
    node = definition_node(source, tree, name)
    first, end = span(source, node)
    if not content.strip():
        raise BadInput("new_content is empty; py_remove_def removes a definition")
    if _same(source.rows(first, end), content):
        return _unchanged(source, data, first, end)
    used = _used_by(source, tree, node)
    base = source.indent(first)
    made = code(content, base, used)
    if all(isinstance(node, ast.Expr | ast.Pass) for node, _ in members(made.tree)):
        raise BadInput("new_content defines nothing; py_remove_def removes a definition")
    return _replaced(source, first, end, fitted(made, base, used))


def set_signature(data: bytes, name: str, signature: str) -> Edited:
    """Put a new head on a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    node = definition_node(source, parsed(source), name)
    start, end = head_span(source, node)
    old = source.text[start:end]
    if plain(old) == plain(signature).strip():
        return spliced(source, start, end, old)
    rows = fitted_head(node, signature, source.indent(node.lineno - 1))
    return spliced(source, start, end, rows.replace("\n", most_used_ending(old) or source.ending))


def set_declaration(data: bytes, name: str, declaration: str) -> Edited:
    """Put a new declaration in the place of a variable's. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    tree = parsed(source)
    found = variable(source, tree, name)
    if not declaration.strip():
        raise BadInput("new_declaration is empty")
    if shares_rows(source, found):
        start, end = declaration_span(source, found)
        return spliced(source, start, end, _one_statement(declaration).replace("\n", source.ending))
    first, behind = span(source, found.node)
    if _same(source.rows(first, behind), declaration):
        return _unchanged(source, data, first, behind)
    base, used = source.indent(first), style(source, tree)
    made = code(declaration, base, used)
    if not any(list(bound(node)) for node, _ in members(made.tree)):
        raise BadInput("new_declaration assigns to no variable")
    return _replaced(source, first, behind, fitted(made, base, used))


def _one_statement(declaration: str) -> str:
    """A declaration that may stand between others: a comment behind it would swallow what follows."""
    source = Source(text=plain(declaration).strip())
    try:
        body = parsed_text(source.text).body
    except SyntaxError as error:
        raise BadInput(f"line {error.lineno or 1} of the new declaration: {error.msg}") from error
    whole = [(source.offset(one.lineno, one.col_offset), end_of(source, one)) for one in body if list(bound(one))]
    if whole != [(0, len(source.text))]:
        raise BadInput("the variable shares its line with other code: give one assignment, without a comment")
    return source.text


def remove_definition(data: bytes, name: str) -> Edited:
    """Take a function or class out. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    tree = parsed(source)
    return without(source, tree, definition(source, tree, name))


def without(source: Source, tree: ast.Module, found: Found) -> Edited:
    """The file without a definition; a block that would be empty gets `pass`, a gap of blank lines stays one gap."""
    first, end = span(source, found.node)
    if len(found.block) == 1 and found.block is not tree.body:
        return _replaced(source, first, end, f"{source.indent(first)}pass")
    above, below = first, end
    while source.is_blank(above - 1):
        above -= 1
    while source.is_blank(below):
        below += 1
    if below == source.count:
        first = above
    elif found.node is found.block[0] and len(found.block) > 1 and above == first:
        end = below
    elif first - above <= below - end:
        first = above
    else:
        end = below
    return spliced(source, source.starts[first], source.starts[end], "")


def wrap_region(data: bytes, start_line: int, end_line: int, label: str) -> Edited:
    """Put `#region` and `#endregion` around lines ended by `\\n`. Raises: BadInput, Exhausted."""
    source = read(data)
    tree = parsed(source)
    lines = source.text.split("\n")
    count = len(lines) - (not lines[-1])
    if not 1 <= start_line <= end_line <= count:
        raise BadInput(f"lines {start_line} to {end_line} are no range of this file, which has {count} lines")
    if not label.strip() or not label.isprintable():
        raise BadInput("region_name must be one line of printable text")
    if start_line == 1 and source.text.startswith("#!"):
        raise BadInput("line 1 says which program runs the file and must stay the first: begin the region at line 2")
    ending = "\r\n" if source.ending == "\r\n" else "\n"
    inner = lines[start_line - 1 : end_line]
    space = leading(next((line for line in inner if line.strip()), "")).rpartition("\f")[2]
    body = "\n".join(inner) + ("\n" if end_line < len(lines) else ending)
    closing = f"{space}#endregion" + (ending if end_line < len(lines) else "")
    start = sum(len(line) + 1 for line in lines[: start_line - 1])
    end = min(sum((len(line) + 1 for line in inner), start), len(source.text))
    edited = spliced(source, start, end, f"{space}#region {label.strip()}{ending}{body}{closing}")
    if _dump(parsed(read(edited.data))) != _dump(tree):
        raise BadInput(f"a region from line {start_line} to {end_line} would begin or end inside a string or statement")
    return edited


def _dump(tree: ast.Module) -> str:
    try:
        return ast.dump(tree)
    except RecursionError as error:
        raise Exhausted("the code is nested too deeply to be compared") from error


def _same(old: str, new: str) -> bool:
    return plain(old).rstrip("\n") == plain(new).rstrip("\n")


def _unchanged(source: Source, data: bytes, first: int, end: int) -> Edited:
    return Edited(data=data, first=source.line(source.starts[first]), last=source.line(max(source.starts[end] - 1, 0)))


def _used_by(source: Source, tree: ast.Module, node: ast.AST) -> Style | None:
    """The style of what is replaced; where it has none, that of the file."""
    own = style(source, node)
    return own if own else style(source, tree)


def _replaced(source: Source, first: int, end: int, text: str) -> Edited:
    """The rows with others in their place, which take the line ending that these had; the last one may have none."""
    old = source.rows(first, end)
    ending = most_used_ending(old) or source.ending
    closed = old.endswith(("\n", "\r"))
    new = text.replace("\n", ending) + (ending if closed else "")
    return spliced(source, source.starts[first], source.starts[end], new)
