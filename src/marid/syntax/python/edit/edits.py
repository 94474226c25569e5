"""Change one Python file by the names in it: bytes in, bytes out. Only the changed rows differ."""

import ast
from dataclasses import dataclass

from marid.core.errors import BadInput, Exhausted
from marid.syntax.python.edit.definition_text import declaration_span, fit_header, shares_rows
from marid.syntax.python.edit.indentation import detect_style, parse_code, reindent
from marid.syntax.python.edit.name_lookup import (
    BlockStatement,
    locate_definition,
    locate_definition_node,
    locate_variable,
    scope_statements,
)
from marid.syntax.python.scopes import assigned_names
from marid.syntax.python.source import (
    PythonSource,
    commonest_line_ending,
    leading_space,
    normalize_newlines,
    parse_text,
    read_source,
)


@dataclass(frozen=True, kw_only=True)
class EditResult:
    """A changed file, and the lines of the new text, from 1; `last_line` is below `first_line` if that is empty."""

    data: bytes
    first_line: int
    last_line: int


def splice(source: PythonSource, start: int, end: int, text: str) -> EditResult:
    """Replace the text between two offsets. Raises: BadInput if the result would not parse."""
    whole = source.text[:start] + text + source.text[end:]
    first = source.line_number(start)
    count = text.count("\n") + (bool(text) and not text.endswith("\n"))
    return EditResult(data=source.encode(whole), first_line=first, last_line=first + count - 1)


def update_definition(data: bytes, name: str, content: str) -> EditResult:
    """Replace a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    node = locate_definition_node(source, name)
    first, end = source.row_span(node)
    if not content.strip():
        raise BadInput("new_content is empty; py_remove_def removes a definition")
    if _is_same_text(source.rows(first, end), content):
        return _unchanged_result(source, data, first, end)
    used = detect_style(source, node) or detect_style(source, source.tree)
    base = source.indent(first)
    made = parse_code(content, base, used)
    if all(isinstance(node, ast.Expr | ast.Pass) for node, _ in scope_statements(made.tree)):
        raise BadInput("new_content defines nothing; py_remove_def removes a definition")
    return _replace_rows(source, first, end, reindent(made, base, used))


def set_signature(data: bytes, name: str, signature: str) -> EditResult:
    """Replace the header of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    node = locate_definition_node(source, name)
    start, end = source.header_span(node)
    old = source.text[start:end]
    if normalize_newlines(old) == normalize_newlines(signature).strip():
        return splice(source, start, end, old)
    rows = fit_header(node, signature, source.indent(node.lineno - 1))
    return splice(source, start, end, rows.replace("\n", commonest_line_ending(old) or source.line_ending))


def set_declaration(data: bytes, name: str, declaration: str) -> EditResult:
    """Replace the declaration of a variable. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    found = locate_variable(source, name)
    if not declaration.strip():
        raise BadInput("new_declaration is empty")
    if shares_rows(source, found):
        start, end = declaration_span(source, found)
        return splice(source, start, end, _check_one_statement(declaration).replace("\n", source.line_ending))
    first, behind = source.row_span(found.node)
    if _is_same_text(source.rows(first, behind), declaration):
        return _unchanged_result(source, data, first, behind)
    base, used = source.indent(first), detect_style(source, source.tree)
    made = parse_code(declaration, base, used)
    if not any(list(assigned_names(node)) for node, _ in scope_statements(made.tree)):
        raise BadInput("new_declaration assigns to no variable")
    return _replace_rows(source, first, behind, reindent(made, base, used))


def _check_one_statement(declaration: str) -> str:
    """A declaration that shares its row: a comment after it would swallow what follows."""
    text = normalize_newlines(declaration).strip()
    try:
        source = PythonSource(text=text, tree=parse_text(text))
    except SyntaxError as error:
        raise BadInput(f"line {error.lineno or 1} of the new declaration: {error.msg}") from error
    whole = [(source.start(one), source.end(one)) for one in source.tree.body if list(assigned_names(one))]
    if whole != [(0, len(source.text))]:
        raise BadInput("the variable shares its line with other code: give one assignment, without a comment")
    return source.text


def remove_definition(data: bytes, name: str) -> EditResult:
    """Remove a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    return remove_statement(source, locate_definition(source, name))


def remove_statement(source: PythonSource, found: BlockStatement) -> EditResult:
    """Remove a statement; an empty block gets `pass`, and the gaps above and below become one."""
    first, end = source.row_span(found.node)
    if len(found.block) == 1 and found.block is not source.tree.body:
        return _replace_rows(source, first, end, f"{source.indent(first)}pass")
    above, below = first, end
    while source.is_blank(above - 1):
        above -= 1
    while source.is_blank(below):
        below += 1
    if below == source.row_count:
        first = above
    elif found.node is found.block[0] and len(found.block) > 1 and above == first:
        end = below
    elif first - above <= below - end:
        first = above
    else:
        end = below
    return splice(source, source.row_starts[first], source.row_starts[end], "")


def wrap_region(data: bytes, start_line: int, end_line: int, label: str) -> EditResult:
    """Put `#region` and `#endregion` around lines, which end at `\\n`. Raises: BadInput, Exhausted."""
    source = read_source(data)
    lines = source.text.split("\n")
    count = len(lines) - (not lines[-1])
    if not 1 <= start_line <= end_line <= count:
        raise BadInput(f"lines {start_line} to {end_line} are not a range of this file, which has {count} lines")
    if not label.strip() or not label.isprintable():
        raise BadInput("region_name must be one line of printable text")
    if start_line == 1 and source.text.startswith("#!"):
        raise BadInput("line 1 names the interpreter and must stay first: start the region at line 2")
    ending = "\r\n" if source.line_ending == "\r\n" else "\n"
    inner = lines[start_line - 1 : end_line]
    space = leading_space(next((line for line in inner if line.strip()), "")).rpartition("\f")[2]
    body = "\n".join(inner) + ("\n" if end_line < len(lines) else ending)
    closing = f"{space}#endregion" + (ending if end_line < len(lines) else "")
    start = sum(len(line) + 1 for line in lines[: start_line - 1])
    end = min(sum((len(line) + 1 for line in inner), start), len(source.text))
    edited = splice(source, start, end, f"{space}#region {label.strip()}{ending}{body}{closing}")
    if _dump_tree(read_source(edited.data).tree) != _dump_tree(source.tree):
        raise BadInput(f"a region from line {start_line} to {end_line} would start or end inside a string or statement")
    return edited


def _dump_tree(tree: ast.Module) -> str:
    try:
        return ast.dump(tree)
    except RecursionError as error:
        raise Exhausted("the code is nested too deeply to compare") from error


def _is_same_text(old: str, new: str) -> bool:
    return normalize_newlines(old).rstrip("\n") == normalize_newlines(new).rstrip("\n")


def _unchanged_result(source: PythonSource, data: bytes, first: int, end: int) -> EditResult:
    return EditResult(data=data, first_line=source.line_of_row(first), last_line=source.line_of_row(end - 1))


def _replace_rows(source: PythonSource, first: int, end: int, text: str) -> EditResult:
    """Replace rows; the new ones get the line ending of the old ones, and none at the end if those had none."""
    old = source.rows(first, end)
    ending = commonest_line_ending(old) or source.line_ending
    closed = old.endswith(("\n", "\r"))
    new = text.replace("\n", ending) + (ending if closed else "")
    return splice(source, source.row_starts[first], source.row_starts[end], new)
