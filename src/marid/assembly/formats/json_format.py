"""JSON: one object, with one file per line."""

import json
from collections.abc import Sequence

from marid.assembly.formats.format_table import TextFormat, format_mtime
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level
from marid.text.display import quote_path


class JsonFormat(TextFormat):
    """One object with `sections` and `files`, one file per line."""

    def __init__(self) -> None:
        self._has_files = False
        self._has_sections = False

    def prologue(self) -> bytes:
        return b'{"version": 1, "sections": ['

    def epilogue(self) -> bytes:
        return b"\n]}\n" if self._has_files else b'], "files": []}\n'

    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]:
        del first
        lead = b",\n" if self._has_files else b'], "files": [\n'
        self._has_files = True
        return lead, _encode_json(json_item(item))

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        del first
        lead = b",\n" if self._has_sections else b"\n"
        self._has_sections = True
        return lead, _encode_json({"kind": section.kind, "title": section.title, "content": section.body.decode()})

    def name(self, item: ContextItem) -> bytes:
        return b"".join(self.item(item, first=False))

    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]:
        return [piece for item in items for piece in self.item(item, first=first)]


def json_item(item: ContextItem) -> dict[str, object]:
    """A file as a JSON object. A name that is not UTF-8 is quoted, and `path_hex` has its bytes."""
    facts: dict[str, object] = {"path": quote_path(item.path)}
    if facts["path"] != item.path:
        facts["path_hex"] = item.path.encode("utf-8", "surrogateescape").hex()
    facts |= {
        "size": item.size,
        "modified": format_mtime(item.modified).replace(" ", "T") + "Z",
        "encoding": item.encoding,
        "level": item.level.value,
    }
    if item.level is not Level.NAME:
        facts |= {"written": len(item.body), "content": item.body.decode()}
    if item.masked:
        facts["masked"] = item.masked
    if item.spans:
        facts["lines"] = [list(span) for span in item.spans]
    if item.tokens is not None:
        facts["tokens"] = item.tokens
    return facts


def _encode_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
