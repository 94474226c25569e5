"""What the author says about a definition: the first line of a docstring, or of the comment right above."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from marid.syntax.treesitter.nodes import child_at, named_child_at, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

_FRAME = re.compile(r"^\s*(?:/\*+!?|//+!?|\*+/?|#+!?)?\s?|\s*\**/?\s*$")
_TAGS = re.compile(r"</?(?:summary|para|remarks|value|inheritdoc|c|code)\b[^>]*>")


def docstring_summary(body: "Node | None", data: bytes) -> str:
    """The first line of the string with which a Python body begins."""
    statement = _first_statement(body) if body else None
    string = child_at(statement, 0) if statement and statement.type == "expression_statement" else None
    if string is None or string.type != "string" or statement is None or statement.named_child_count != 1:
        return ""
    quoted = node_text(string, data).lstrip("rRuU")
    if quoted[:1] not in ("'", '"'):  # bytes or a format string
        return ""
    quote = quoted[:3] if quoted.startswith(("'''", '"""')) else quoted[0]
    lines = quoted.removeprefix(quote).removesuffix(quote).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")


def _first_statement(body: "Node") -> "Node | None":
    """Past a few comments: going on by index costs the square of their number."""
    found = (named_child_at(body, index) for index in range(8))
    return next((node for node in found if node is not None and node.type != "comment"), None)


def comment_summary(run: Iterable["Node"], data: bytes) -> str:
    """The first line with words in a run of comments, without the comment signs; tags (`@param`) do not count."""
    for node in run:
        if node.child_by_field_name("inner"):  # Rust: about the file, not about what follows
            continue
        for raw in node_text(node, data).split("\n"):
            line = _TAGS.sub("", _FRAME.sub("", raw.strip())).strip()
            if any(map(str.isalnum, line)) and not raw.startswith("#!") and not line.startswith(("@", "\\")):
                return line
    return ""
