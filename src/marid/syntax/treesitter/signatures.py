"""The signature of a definition on one line, and the first line of its docstring or comment."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from marid.syntax.treesitter.language_tables import NO_NODE, NodeRule
from marid.syntax.treesitter.nodes import body_start, child_at, named_child_at, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

COMMENTS = frozenset(("comment", "line_comment", "block_comment"))
_VALUE_KINDS = frozenset(("constant", "variable", "type"))
_VALUE_LENGTH = 120
_COMMENT_SIGN = re.compile(rb"#|//|/\*")
_AFTER_OPENING = re.compile(r"(?<=[(\[])\s*\n\s*")
_BEFORE_CLOSING = re.compile(r"\s*\n\s*(?=[)\]])")
_FRAME = re.compile(r"^\s*(?:/\*+!?|//+!?|\*+/?|#+!?)?\s?|\s*\**/?\s*$")
_TAGS = re.compile(r"</?(?:summary|para|remarks|value|inheritdoc|c|code)\b[^>]*>")


def split_decorators(node: "Node", marks: frozenset[str]) -> tuple[list["Node"], "Node"]:
    """The decorators and attributes at the start of a definition, and the first node after them."""
    found: list[Node] = []
    for child in node.children:
        if child.type in marks:
            found.append(child)
        elif child.type == "modifiers":  # Java keeps annotations and keywords together
            inner, own = split_decorators(child, marks)
            found += inner
            if own is not child:
                return found, own
        elif child.type not in COMMENTS:
            return found, child
    return found, node


class DefinitionSite(NamedTuple):
    """The nodes of a definition: `outer` is its head or the node itself, `start` the byte after decorators."""

    data: bytes
    node: "Node"
    outer: "Node"
    body: "Node | None"
    decorators: "tuple[Node, ...]"
    start: int

    @property
    def first_byte(self) -> int:
        """Where the definition starts, decorators included."""
        return min((mark.start_byte for mark in self.decorators), default=self.outer.start_byte)

    @property
    def end_byte(self) -> int:
        """Where it ends, with what ends the statement."""
        return max(self.node.end_byte, self.outer.end_byte)


def signature(site: DefinitionSite, rule: NodeRule, kind: str) -> str:
    """The text from the first word to the body; long values and type aliases are cut."""
    body = site.body
    end = _signature_end(site.node, body, rule)
    if body is None and kind in _VALUE_KINDS:
        line = one_line(site, site.start, min(end, site.start + 4 * _VALUE_LENGTH))
        whole = end <= site.start + 4 * _VALUE_LENGTH and len(line) <= _VALUE_LENGTH
        return line if whole else line[:_VALUE_LENGTH] + "…"
    line = one_line(site, site.start, end)
    if body is None or body.end_byte == site.node.end_byte or end != body.start_byte:
        return line
    rest = one_line(site, body.end_byte, site.node.end_byte)
    return f"{line} {{…}} {rest}" if rest else line


def _signature_end(node: "Node", body: "Node | None", rule: NodeRule) -> int:
    if rule.last is not NO_NODE and (last := rule.last(node)) is not None:
        return last.end_byte
    if body is None:
        return node.end_byte
    return body_start(node, (child_at(body, 1) if rule.keyword_in_body else None) or body)


def one_line(site: DefinitionSite, start: int, end: int) -> str:
    """The text between two bytes on one line, without the sign that opens a body."""
    raw = site.data[start:end]
    if _COMMENT_SIGN.search(raw, 1):
        raw = _without_comments(site, start, end)
    line = raw.decode("utf-8", "replace")
    if "\n" in line:
        line = line.replace("\\\n", "\n")
        line = _BEFORE_CLOSING.sub("", _AFTER_OPENING.sub("", line))
    return " ".join(line.split()).rstrip(";={ ")


def _without_comments(site: DefinitionSite, start: int, end: int) -> bytes:
    kept, waiting = bytearray(), [site.outer]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        if node.type in COMMENTS:
            kept += site.data[start : node.start_byte] + b" "
            start = min(node.end_byte, end)
        else:
            waiting += reversed(node.children)
    return bytes(kept + site.data[start:end])


def docstring_node(body: "Node | None") -> "Node | None":
    """The string that starts a Python body, after a few comments: more, by index, would take quadratic time."""
    found = (named_child_at(body, index) for index in range(8)) if body else ()
    statement = next((node for node in found if node is not None and node.type != "comment"), None)
    if statement is None or statement.type != "expression_statement" or statement.named_child_count != 1:
        return None
    string = child_at(statement, 0)
    return string if string is not None and string.type in ("string", "concatenated_string") else None


def docstring_summary(body: "Node | None", data: bytes) -> str:
    """The first line of the docstring of a Python body."""
    string = docstring_node(body)
    quoted = node_text(string, data).lstrip("rRuU") if string is not None and string.type == "string" else ""
    if quoted[:1] not in ("'", '"'):  # bytes or a format string
        return ""
    quote = quoted[:3] if quoted.startswith(("'''", '"""')) else quoted[0]
    lines = quoted.removeprefix(quote).removesuffix(quote).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")


def comment_summary(run: Iterable["Node"], data: bytes) -> str:
    """The first line with words in a run of comments, without comment signs and tags such as `@param`."""
    for node in run:
        if node.child_by_field_name("inner"):  # Rust: a comment about the file
            continue
        for raw in node_text(node, data).split("\n"):
            line = _TAGS.sub("", _FRAME.sub("", raw.strip())).strip()
            if any(map(str.isalnum, line)) and not raw.startswith("#!") and not line.startswith(("@", "\\")):
                return line
    return ""
