"""The skeleton of a Python file: its own text with `...` for the bodies of functions."""

import re
from collections.abc import Iterator

from marid.syntax.python.scopes import FUNCTION_NODES, FunctionNode, definitions, docstring_node
from marid.syntax.python.source import PythonSource, read_source

Cut = tuple[int, int, bytes]
_SPACE = b" \t\f"
_LINE_REST = re.compile(rb"[^\r\n]*")
_LINE_END = re.compile(rb"\r\n?|\n")
# Atomic groups: `\r\n` read in two ways would double the work with every line.
_COMMENT_BELOW = re.compile(rb"(?>[ \t\f]*(?>\r\n?|\n))++([ \t\f]+)#[^\r\n]*")


def py_skeleton(data: bytes) -> str:
    """Signatures, decorators, docstrings and everything outside functions stay as they are written; it parses.

    Raises:
        BadInput: the file does not parse.
        Exhausted: it is nested too deeply.
    """
    source = read_source(data)
    parts: list[bytes] = []
    at = 0
    for start, end, instead in _skeleton_cuts(source):
        parts += (source.code[at:start], instead)
        at = end
    return b"".join((*parts, source.code[at:])).decode()


def _skeleton_cuts(source: PythonSource) -> Iterator[Cut]:
    waiting = list(definitions(source.tree.body))[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTION_NODES):
            yield from _body_cuts(source, node)
        else:
            waiting.extend(list(definitions(node.body))[::-1])


def _body_cuts(source: PythonSource, node: FunctionNode) -> Iterator[Cut]:
    """What to cut of a function: all but its docstring."""
    doc = docstring_node(node)
    if doc is None:
        yield _whole_body_cut(source, node)
    elif len(node.body) > 1:
        start = source.end(doc)
        # What follows `;` cannot be moved to a line of its own: the docstring may stand behind the colon.
        if source.code[start : source.start_with_decorators(node.body[1])].lstrip(b" \t\f\\\r\n").startswith(b";"):
            yield start, source.end(node.body[-1]), b"; ..."
        else:
            indent = source.code[source.row_start(source.start(doc)) : source.start(doc)]
            end = _LINE_END.search(source.code, start)
            yield start, _body_end(source, node, len(indent)), (end.group() if end else b"\n") + indent + b"..."


def _whole_body_cut(source: PythonSource, node: FunctionNode) -> Cut:
    """Comments between the signature and the first statement go with the body; one behind the colon stays."""
    start = source.start_with_decorators(node.body[0])
    row = source.row_start(start)
    indent = source.code[row:start]
    header = source.header_end(node)
    if indent.strip(_SPACE) or source.code[header:row].strip(b" \t\f\r\n").startswith(b"\\"):
        return start, source.end(node.body[-1]), b"..."
    found = _LINE_REST.match(source.code, header)
    end = _LINE_END.match(source.code, found.end() if found else header)
    return end.end() if end else row, _body_end(source, node, len(indent)), indent + b"..."


def _body_end(source: PythonSource, node: FunctionNode, width: int) -> int:
    """The end of the body: the rest of its last line, and the comments below that are indented like it."""
    found = _LINE_REST.match(source.code, source.end(node.body[-1]))
    end = found.end() if found else len(source.code)
    while (found := _COMMENT_BELOW.match(source.code, end)) and len(found.group(1)) >= width:
        end = found.end()
    return end
