"""The skeleton of a Python file: its own text with `...` for the bodies of functions."""

import re
from collections.abc import Iterator

from marid.syntax.python.scopes import definitions, docstring_node
from marid.syntax.python.source import FUNCTION_NODES, FunctionNode, PythonSource, read_source

Cut = tuple[int, int, str]
_SPACE = " \t\f"
_LINE_REST = re.compile(r"[^\r\n]*")
_LINE_END = re.compile(r"\r\n?|\n")
# Atomic groups: `\r\n` read in two ways would double the work with every line.
_COMMENT_BELOW = re.compile(r"(?>[ \t\f]*(?>\r\n?|\n))++([ \t\f]+)#[^\r\n]*")


def py_skeleton(data: bytes) -> str:
    """Signatures, decorators, docstrings and everything outside functions stay as written; the result parses.

    Raises as `read_source`.
    """
    source = read_source(data)
    parts: list[str] = []
    at = 0
    for start, end, instead in _skeleton_cuts(source):
        parts += (source.text[at:start], instead)
        at = end
    return "".join((*parts, source.text[at:]))


def _skeleton_cuts(source: PythonSource) -> Iterator[Cut]:
    waiting = list(definitions(source.tree.body))[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTION_NODES):
            yield from _body_cuts(source, node)
        else:
            waiting.extend(list(definitions(node.body))[::-1])


def _body_cuts(source: PythonSource, node: FunctionNode) -> Iterator[Cut]:
    """Cut the body of a function, but not its docstring."""
    doc = docstring_node(node)
    if doc is None:
        yield _whole_body_cut(source, node)
    elif len(node.body) > 1:
        start = source.end(doc)
        # What follows `;` cannot be moved to a line of its own: the docstring may stand behind the colon.
        if source.text[start : source.start_with_decorators(node.body[1])].lstrip(" \t\f\\\r\n").startswith(";"):
            yield start, source.end(node.body[-1]), "; ..."
        else:
            indent = source.text[source.row_starts[doc.lineno - 1] : source.start(doc)]
            end = _LINE_END.search(source.text, start)
            yield start, _body_end(source, node, len(indent)), (end.group() if end else "\n") + indent + "..."


def _whole_body_cut(source: PythonSource, node: FunctionNode) -> Cut:
    """Comments between the signature and the first statement go with the body; one behind the colon stays."""
    start = source.start_with_decorators(node.body[0])
    row = source.row_starts[source.first_row(node.body[0])]
    indent = source.text[row:start]
    header = source.header_span(node)[1]
    if indent.strip(_SPACE) or source.text[header:row].strip(" \t\f\r\n").startswith("\\"):
        return start, source.end(node.body[-1]), "..."
    found = _LINE_REST.match(source.text, header)
    end = _LINE_END.match(source.text, found.end() if found else header)
    return end.end() if end else row, _body_end(source, node, len(indent)), indent + "..."


def _body_end(source: PythonSource, node: FunctionNode, width: int) -> int:
    """The end of the body: the rest of its last line, and the comments below that are indented like it."""
    found = _LINE_REST.match(source.text, source.end(node.body[-1]))
    end = found.end() if found else len(source.text)
    while (found := _COMMENT_BELOW.match(source.text, end)) and len(found.group(1)) >= width:
        end = found.end()
    return end
