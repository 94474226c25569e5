"""Show and change definitions, signatures and variables of one Python file: only the changed rows differ."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from marid.core.errors import BadInput, Exhausted
from marid.syntax.python.edit.indentation import IndentSteps, analyze_rows, detect_steps, move_row, parse_code, reindent
from marid.syntax.python.edit.name_lookup import locate_definition, locate_definition_node, locate_variable
from marid.syntax.python.scopes import BlockStatement, assigned_names, statements
from marid.syntax.python.source import (
    DEFINITION_NODES,
    DefinitionNode,
    PythonSource,
    commonest_line_ending,
    leading_space,
    normalize_newlines,
    parse_text,
    read_source,
)

_NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, kw_only=True)
class PythonExcerpt:
    """A piece of a file and its lines, from 1, both included."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, kw_only=True)
class EditResult:
    """A changed file, and the lines of the new text, from 1; `last_line` is below `first_line` if that is empty."""

    data: bytes
    first_line: int
    last_line: int


def find_definition(data: bytes, name: str) -> PythonExcerpt:
    """The whole lines of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    first, end = source.row_span(locate_definition_node(source, name))
    return _make_excerpt(source, source.row_starts[first], source.row_starts[end])


def find_signature(data: bytes, name: str) -> PythonExcerpt:
    """A function or class from its keyword to its colon. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    return _make_excerpt(source, *source.header_span(locate_definition_node(source, name)))


def find_declaration(data: bytes, name: str) -> PythonExcerpt:
    """The lines of an assignment, or only itself if it shares them. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    found = locate_variable(source, name)
    if _shares_rows(source, found):
        return _make_excerpt(source, source.start(found.node), source.end(found.node))
    first, end = source.row_span(found.node)
    return _make_excerpt(source, source.row_starts[first], source.row_starts[end])


def _make_excerpt(source: PythonSource, start: int, end: int) -> PythonExcerpt:
    first, last = source.line_number(start), source.line_number(max(start, end - 1))
    return PythonExcerpt(text=source.text[start:end], first_line=first, last_line=last)


def _shares_rows(source: PythonSource, found: BlockStatement) -> bool:
    """Whether other code is on the rows of a simple statement: a neighbour or the enclosing statement."""
    node, after = found.node, found.block[found.position + 1 :]
    before = source.text[source.row_starts[node.lineno - 1] : source.start(node)]
    return bool(before.strip()) or any(each.lineno == node.end_lineno for each in after[:1])


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
    if not content.strip():
        raise BadInput("new_content is empty; py_remove_def removes a definition")

    def check(made: ast.Module) -> None:
        if all(isinstance(each, ast.Expr | ast.Pass) for each in statements(made.body)):
            raise BadInput("new_content defines nothing; py_remove_def removes a definition")

    return _replace_statement(source, node, content, detect_steps(source, node), check)


def set_signature(data: bytes, name: str, signature: str) -> EditResult:
    """Replace the header of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    node = locate_definition_node(source, name)
    start, end = source.header_span(node)
    old = source.text[start:end]
    if normalize_newlines(old) == normalize_newlines(signature).strip():
        return splice(source, start, end, old)
    rows = _fit_header(node, signature, source.indent(node.lineno - 1))
    return splice(source, start, end, rows.replace("\n", commonest_line_ending(old) or source.line_ending))


def set_declaration(data: bytes, name: str, declaration: str) -> EditResult:
    """Replace the declaration of a variable. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    found = locate_variable(source, name)
    if not declaration.strip():
        raise BadInput("new_declaration is empty")
    if _shares_rows(source, found):
        text = _check_one_statement(declaration).replace("\n", source.line_ending)
        return splice(source, source.start(found.node), source.end(found.node), text)

    def check(made: ast.Module) -> None:
        if not any(name for node in statements(made.body) for name in assigned_names(node)):
            raise BadInput("new_declaration assigns to no variable")

    return _replace_statement(source, found.node, declaration, (), check)


def _replace_statement(
    source: PythonSource, node: ast.stmt, content: str, steps: IndentSteps, check: Callable[[ast.Module], None]
) -> EditResult:
    """Replace a statement by code indented in these steps, or else in those of the file."""
    first, end = source.row_span(node)
    if normalize_newlines(source.rows(first, end)).rstrip("\n") == normalize_newlines(content).rstrip("\n"):
        first_line, last_line = source.line_span(node)
        return EditResult(data=source.data, first_line=first_line, last_line=last_line)
    base, steps = source.indent(first), steps or detect_steps(source, source.tree)
    code = parse_code(content, base, steps)
    check(code.tree)
    return _replace_rows(source, first, end, reindent(code, base, steps))


def _check_one_statement(declaration: str) -> str:
    """A declaration that shares its row: a comment after it would swallow what follows."""
    text = normalize_newlines(declaration).strip()
    try:
        source = PythonSource(text=text, tree=parse_text(text))
    except SyntaxError as error:
        raise BadInput(f"line {error.lineno or 1} of the new declaration: {error.msg}") from error
    whole = [(source.start(node), source.end(node)) for node in source.tree.body if any(assigned_names(node))]
    if whole != [(0, len(text))]:
        raise BadInput("the variable shares its line with other code: give one assignment, without a comment")
    return text


def remove_definition(data: bytes, name: str) -> EditResult:
    """Remove a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    return remove_statement(source, locate_definition(source, name))


def remove_statement(source: PythonSource, found: BlockStatement) -> EditResult:
    """Remove a statement; an empty block gets `pass`, and the gaps above and below become one."""
    first, end = source.row_span(found.node)
    if len(found.block) == 1 and found.block is not source.tree.body:
        return _replace_rows(source, first, end, f"{source.indent(first)}pass")
    above, below = source.blank_rows(first - 1, -1), source.blank_rows(end, 1)
    opens_block = found.node is found.block[0] and len(found.block) > 1 and not above
    if end + below == source.row_count or (above <= below and not opens_block):
        first -= above
    else:
        end += below
    return splice(source, source.row_starts[first], source.row_starts[end], "")


def wrap_region(data: bytes, start_line: int, end_line: int, label: str) -> EditResult:
    """Put `#region` and `#endregion` around lines, which end at `\\n`. Raises: BadInput, Exhausted."""
    source = read_source(data)
    lines: list[str] = _LINE.findall(source.text)
    if not 1 <= start_line <= end_line <= len(lines):
        raise BadInput(f"lines {start_line} to {end_line} are not a range of this file, which has {len(lines)} lines")
    if not label.strip() or not label.isprintable():
        raise BadInput("region_name must be one line of printable text")
    if start_line == 1 and source.text.startswith("#!"):
        raise BadInput("line 1 names the interpreter and must stay first: start the region at line 2")
    ending = "\r\n" if source.line_ending == "\r\n" else "\n"
    inner = lines[start_line - 1 : end_line]
    space = leading_space(next((line for line in inner if line.strip()), "")).rpartition("\f")[2]
    start, body = sum(map(len, lines[: start_line - 1])), "".join(inner)
    before, after = ("", ending) if body.endswith("\n") else (ending, "")
    text = f"{space}#region {label.strip()}{ending}{body}{before}{space}#endregion{after}"
    edited = splice(source, start, start + len(body), text)
    if _dump_tree(read_source(edited.data).tree) != _dump_tree(source.tree):
        raise BadInput(f"a region from line {start_line} to {end_line} would start or end inside a string or statement")
    return edited


def _dump_tree(tree: ast.Module) -> str:
    try:
        return ast.dump(tree)
    except RecursionError as error:
        raise Exhausted("the code is nested too deeply to compare") from error


def _replace_rows(source: PythonSource, first: int, end: int, text: str) -> EditResult:
    """Replace rows; the new ones get the line ending of the old ones, and none at the end if those had none."""
    old = source.rows(first, end)
    ending = commonest_line_ending(old) or source.line_ending
    new = text.replace("\n", ending) + (ending if old.endswith(("\n", "\r")) else "")
    return splice(source, source.row_starts[first], source.row_starts[end], new)


def name_span(source: PythonSource, node: DefinitionNode) -> tuple[int, int]:
    """The offsets of the name itself."""
    start = source.start(node)
    match = _NAME.match(source.text, start)
    return match.span(1) if match else (start, start)


def _fit_header(node: DefinitionNode, given: str, base: str) -> str:
    """A new header for a definition indented by `base`, with `\\n` between rows. Raises: BadInput."""
    text = normalize_newlines(given).strip().removesuffix(":") + ":"
    made = _parse_header(text)
    if isinstance(made, ast.ClassDef) != isinstance(node, ast.ClassDef):
        raise BadInput(f"'{node.name}' is a {_kind(node)}; its signature cannot become that of a {_kind(made)}")
    rows = text.split("\n")
    inside = analyze_rows(f"{text} pass", made).in_string
    free = [at for at in range(1, len(rows)) if at not in inside and rows[at].strip()]
    old = leading_space(normalize_newlines(given).lstrip("\n"))
    if not old and all(rows[at].startswith(base) for at in free):
        old = base  # copied from the file: only the first row lost its indentation
    for at in free:
        rows[at] = move_row(rows[at], old, base)
    return "\n".join(rows)


def _parse_header(text: str) -> DefinitionNode:
    try:
        source = PythonSource(text=f"{text} pass", tree=parse_text(f"{text} pass"))
    except SyntaxError as error:
        reason = f"line {error.lineno or 1} of the new signature: {error.msg}"
        raise BadInput(f"{reason}; end it with its colon, without a comment or a body") from error
    body = source.tree.body
    node = body[0] if len(body) == 1 else None
    if not isinstance(node, DEFINITION_NODES):
        raise BadInput("the new signature must be one line or more from 'def', 'async def' or 'class' to the colon")
    if node.decorator_list or source.header_span(node) != (0, len(text)):
        raise BadInput("the new signature must start with 'def', 'async def' or 'class' and end with its colon")
    return node


def _kind(node: DefinitionNode) -> str:
    return "class" if isinstance(node, ast.ClassDef) else "function"
