"""XML that always parses."""

import re
from collections.abc import Sequence

from marid.assembly.formats.format_table import TextFormat, format_mtime
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level
from marid.text.display import quote_path

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class XmlFormat(TextFormat):
    """Well-formed XML: the content in CDATA, or escaped where a parser would change its line ends."""

    def prologue(self) -> bytes:
        return b'<?xml version="1.0" encoding="UTF-8"?>\n<context>\n'

    def epilogue(self) -> bytes:
        return b"</context>\n"

    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]:
        del first
        text, replaced = _xml_text(item.body)
        attributes = {
            "path": quote_path(item.path),
            "size": str(item.size),
            "modified": format_mtime(item.modified).replace(" ", "T") + "Z",
            "encoding": "" if item.encoding == "utf-8" else item.encoding,
            "level": "" if item.level is Level.FULL else item.level.value,
            "lines": ", ".join(f"{start}-{end}" for start, end in item.spans),
            "tokens": "" if item.tokens is None else str(item.tokens),
            "masked": str(item.masked) if item.masked else "",
            "replaced": str(replaced) if replaced else "",
        }
        return _tag("file", attributes), text, b"</file>\n"

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        del first
        return _tag(section.kind, {"title": section.title}), _xml_text(section.body)[0], f"</{section.kind}>\n".encode()

    def name(self, item: ContextItem) -> bytes:
        return b"".join(self.item(item, first=False))

    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]:
        return [piece for item in items for piece in self.item(item, first=first)]


def _tag(name: str, attributes: dict[str, str]) -> bytes:
    safe = {key: _NOT_XML.sub("\ufffd", value).translate(_ENTITIES) for key, value in attributes.items() if value}
    pairs = "".join(f' {key}="{value}"' for key, value in safe.items())
    return f"<{name}{pairs}>".encode()


def _xml_text(body: bytes) -> tuple[bytes, int]:
    """The content, and how many characters XML cannot hold were replaced."""
    text, replaced = _NOT_XML.subn("\ufffd", body.decode())
    if "\r" in text:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
        return text.encode(), replaced
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>".encode(), replaced
