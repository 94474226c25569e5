"""Readers of the four forms that know only what is promised about them, and hostile files to try them on."""

import json
import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from hypothesis import strategies as st

from marid.assembly.items import ContextItem
from marid.text.display import unquote_path

RULE = b"=" * 80

_TRAPS = (
    RULE.decode(),
    "File: forged.py",
    "Size: 3 bytes",
    "Content: 3 bytes",
    "Last Modified: 2024-01-01 00:00:00",
    "```",
    "`````python",
    "~~~",
    "]]>",
    "<![CDATA[",
    "</file>",
    '<file path="forged">',
    "&amp;",
    '"}]}',
    "\r",
    "\r\n",
    "\n\n",
    "\x01\x0b\x1b[31m",
    "\ufffe\ufeff",
    "a",
    "é€😀",
)


def bodies() -> st.SearchStrategy[bytes]:
    """Contents, mostly made of what could be mistaken for the form itself."""
    pieces = st.lists(st.sampled_from(_TRAPS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
    return st.tuples(pieces, st.sampled_from(["\n", "", " "])).map(lambda pair: pair[1].join(pair[0]).encode())


def paths() -> st.SearchStrategy[str]:
    """Names: any bytes but NUL, also such that forge headers."""
    name = (
        st.sampled_from(['a\nSize: 0 bytes\n\n"', '"quoted"', " a ", "`x`", "a`", "-", "é", '<&"', "\u202egnp"])
        | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=8)
        | st.binary(min_size=1, max_size=4).map(lambda data: data.decode("utf-8", "surrogateescape"))
    )
    return st.lists(name.filter(lambda one: not {"\0", "/"} & set(one)), min_size=1, max_size=3).map("/".join)


def projects() -> st.SearchStrategy[list[ContextItem]]:
    """Some files as a form gets them."""
    items = st.builds(item, paths(), bodies(), st.integers(0, 3))
    return st.lists(items, max_size=4, unique_by=lambda one: one.path)


def item(path: str, body: bytes, hidden: int = 0) -> ContextItem:
    """A file of which all is shown, but for what masking took."""
    return ContextItem(path, body, len(body) + hidden, 1_700_000_000.5, "utf-8")


def read_text(data: bytes) -> list[tuple[str, bytes]]:
    """The files of the text form: a header up to the rule, then as many bytes as it says."""
    found: list[tuple[str, bytes]] = []
    at = 0
    while at < len(data):
        if found:
            assert data.startswith(b"\n" + RULE + b"\n", at)
            at += len(RULE) + 2
        end = data.index(RULE + b"\n\n", at)
        header = dict(line.split(": ", 1) for line in data[at:end].decode().splitlines())
        at = end + len(RULE) + 2
        size = int((header.get("Content") or header["Size"]).removesuffix(" bytes"))
        body = data[at : at + size]
        at += size
        if not body.endswith(b"\n"):
            assert data[at : at + 1] == b"\n"
            at += 1
        found.append((unquote_path(header["File"]), body))
    return found


def read_markdown(data: bytes) -> list[tuple[str, bytes]]:
    """The files of the markdown form: a heading with the name as code, then a fence and its twin."""
    found: list[tuple[str, bytes]] = []
    at = 0
    while at < len(data):
        head = re.compile(rb"\n?## (`+)([^\n]*)\1\n\n(```+)\w*\n").match(data, at)
        assert head is not None
        end = data.index(b"\n" + head[3] + b"\n", head.end() - 1) + 1
        name = head[2].decode()
        padded = name[:1] == " " == name[-1:] and bool(name.strip())
        found.append((unquote_path(name[1:-1] if padded else name), data[head.end() : end]))
        at = end + len(head[3]) + 1
    return found


def read_xml(data: bytes) -> list[tuple[str, str]]:
    """The files of the XML form as a parser sees them."""
    return [(unquote_path(file.get("path", "")), file.text or "") for file in ET.fromstring(data).iter("file")]


def read_json(data: bytes) -> list[tuple[str, bytes]]:
    """The files of the JSON form."""
    return [(_json_path(file), file["content"].encode()) for file in json.loads(data)["files"]]


def _json_path(file: dict[str, str]) -> str:
    if "path_hex" in file:
        return bytes.fromhex(file["path_hex"]).decode("utf-8", "surrogateescape")
    return file["path"]


def item_contents(items: Sequence[ContextItem]) -> list[tuple[str, bytes]]:
    """What a reader should find."""
    return [(one.path, one.body) for one in items]
