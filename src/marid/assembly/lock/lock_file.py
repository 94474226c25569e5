"""The lock file: a record of what was packed, to compare a later run with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from marid.assembly.items import ContextItem
from marid.assembly.symbol_excerpts import AnchoredSymbol
from marid.core.context import Level, SymbolDetail
from marid.core.errors import BadInput, NotFound
from marid.text.content_hash import sha256_hex
from marid.text.decode import line_count
from marid.text.display import quote_path, unquote_path
from marid.text.edit.text_anchors import TextAnchor

LOCK_VERSION = 1


class LockedFile(NamedTuple):
    """One file of a pack."""

    path: str
    level: str
    reason: str
    digest: str
    size: int
    written: int
    tokens: int | None
    spans: tuple[tuple[int, int], ...]
    symbols: tuple[AnchoredSymbol, ...]


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A pack: its request and its files."""

    request: Mapping[str, object]
    encoding: str
    sections: Mapping[str, str]
    """The hash of each section, by kind."""
    files: tuple[LockedFile, ...]

    def symbols(self) -> dict[str, tuple[AnchoredSymbol, ...]]:
        """The chosen symbols of each file, with anchors."""
        return {unquote_path(one.path): one.symbols for one in self.files if one.symbols}


def lock_file_row(item: ContextItem, reason: str) -> LockedFile:
    """The row for an item. Its spans are the lines that are included unchanged."""
    whole = item.level is Level.FULL and item.body and not item.symbols
    return LockedFile(
        quote_path(item.path),
        item.level.value,
        reason,
        sha256_hex(item.body),
        item.size,
        len(item.body),
        item.tokens,
        ((1, line_count(item.body)),) if whole else item.spans,
        item.symbols,
    )


def dump_lock(lock: Lock) -> bytes:
    """The bytes of the lock file: one file per line, so that a diff of two locks is readable."""
    import json

    head = {"marid_lock": LOCK_VERSION, "encoding": lock.encoding, "request": lock.request, "sections": lock.sections}
    rows = ",\n".join(json.dumps(_to_json_row(one), ensure_ascii=False) for one in lock.files)
    text = f'{json.dumps(head, ensure_ascii=False)[:-1]},\n"files": [\n{rows}\n]}}\n'
    return text.encode("utf-8", "backslashreplace")  # bytes of names that are not UTF-8 become JSON escapes


def load_lock(path: str) -> Lock:
    """Raises: NotFound, BadInput if it is not a lock file of this version."""
    import json

    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise NotFound(f"{path}: lock file not found or not readable") from error
    try:
        data = cast("dict[str, Any]", json.loads(text))
        if data["marid_lock"] != LOCK_VERSION:
            raise BadInput(
                f"{path}: lock file of version {data['marid_lock']}; this version of marid reads {LOCK_VERSION}"
            )
        return Lock(
            request=data["request"],
            encoding=data["encoding"],
            sections=dict(data["sections"]),
            files=tuple(_from_json_row(row) for row in data["files"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path}: not a lock file of marid") from error


def diff_locks(old: Lock, new: Lock) -> Iterator[str]:
    """The differences between two packs, one per line."""
    for kind in sorted(old.sections.keys() | new.sections.keys()):
        if old.sections.get(kind) != new.sections.get(kind):
            yield f"~ [{kind}] (content changed)"
    before = {one.path: one for one in old.files}
    after = {one.path: one for one in new.files}
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            yield f"- {path}"
        elif path not in before:
            yield f"+ {path} ({after[path].level}, {after[path].tokens} tokens)"
        elif before[path].digest != after[path].digest or before[path].level != after[path].level:
            yield f"~ {path} ({_describe_change(before[path], after[path])})"


def _describe_change(old: LockedFile, new: LockedFile) -> str:
    if old.level != new.level:
        return f"{old.level} -> {new.level}"
    return f"{old.tokens} -> {new.tokens} tokens" if old.tokens != new.tokens else "content changed"


def _to_json_row(one: LockedFile) -> dict[str, object]:
    row: dict[str, object] = {
        "path": one.path,
        "level": one.level,
        "reason": one.reason,
        "sha256": one.digest,
        "size": one.size,
        "written": one.written,
        "tokens": one.tokens,
        "spans": [list(span) for span in one.spans],
    }
    if one.symbols:
        row["symbols"] = [
            {"name": s.name, "show": s.choice.value, "anchor": s.anchor.to_dict() if s.anchor else None}
            for s in one.symbols
        ]
    return row


def _from_json_row(row: dict[str, Any]) -> LockedFile:
    return LockedFile(
        row["path"],
        row["level"],
        row["reason"],
        row["sha256"],
        row["size"],
        row["written"],
        row["tokens"],
        tuple((int(start), int(end)) for start, end in row["spans"]),
        tuple(
            AnchoredSymbol(
                s["name"], SymbolDetail(s["show"]), TextAnchor.from_dict(s["anchor"]) if s["anchor"] else None
            )
            for s in row.get("symbols", ())
        ),
    )
