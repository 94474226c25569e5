"""The lock file: a record of what was packed, made during a run, to compare a later run with."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, cast

from marid.assembly.items import AnchoredSymbol, ContextItem, Section
from marid.assembly.selection import Selection
from marid.core.context import (
    ContextRequest,
    FileSelection,
    Level,
    LevelRule,
    OutputFormat,
    RenderOptions,
    SymbolChoice,
    SymbolDetail,
)
from marid.core.errors import BadInput, NotFound
from marid.text.content_hash import sha256_hex
from marid.text.decode import line_count
from marid.text.display import quote_path, unquote_path
from marid.text.edit.text_anchors import TextAnchor
from marid.text.tokens import ENCODINGS

LOCK_VERSION = 1
# Fields that are stored as they are.
_SELECTION_FIELDS = ("gitignore", "defaults", "changed_since")
_RENDER_FIELDS = ("with_tree", "diff", "log", "line_numbers", "mask", "budget")


class LockedFile(NamedTuple):
    """One file of a pack. Its spans are the lines that are included unchanged."""

    path: str
    level: str
    reason: str
    sha256: str
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


class LockRecorder:
    """Collects the rows of a lock from the items of a run."""

    def __init__(self, request: ContextRequest, encoding: str, sections: Sequence[Section]) -> None:
        self._request = request
        self._encoding = encoding
        self._sections = {section.kind: sha256_hex(section.body) for section in sections}
        self._rows: list[LockedFile] = []

    def record(self, items: Iterable[ContextItem], selection: Selection) -> Iterator[ContextItem]:
        """Pass the items through, recording each."""
        budgeted = self._request.render.budget is not None
        for item in items:
            reason = selection.reason(item.path)
            if budgeted:
                reason += f"; {item.level.value} fits the budget"
            self._rows.append(lock_file_row(item, reason))
            yield item

    def to_lock(self) -> Lock:
        """The lock of the recorded items."""
        request = request_to_dict(self._request)
        return Lock(request=request, encoding=self._encoding, sections=self._sections, files=tuple(self._rows))


def lock_file_row(item: ContextItem, reason: str) -> LockedFile:
    """The row for an item."""
    whole = item.level is Level.FULL and item.body and not item.symbols
    spans = ((1, line_count(item.body)),) if whole else item.spans
    path, level, sha256 = quote_path(item.path), item.level.value, sha256_hex(item.body)
    return LockedFile(path, level, reason, sha256, item.size, len(item.body), item.tokens, spans, item.symbols)


def dump_lock(lock: Lock) -> bytes:
    """The bytes of the lock file: one file per line, so that a diff of two locks is readable."""
    head = {"marid_lock": LOCK_VERSION, "encoding": lock.encoding, "request": lock.request, "sections": lock.sections}
    rows = ",\n".join(json.dumps(_to_json_row(one), ensure_ascii=False) for one in lock.files)
    text = f'{json.dumps(head, ensure_ascii=False)[:-1]},\n"files": [\n{rows}\n]}}\n'
    return text.encode("utf-8", "backslashreplace")  # bytes of names that are not UTF-8 become JSON escapes


def load_lock(path: str) -> Lock:
    """Raises: NotFound, BadInput if it is not a lock file of this version."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise NotFound(f"{path}: lock file not found or not readable") from error
    try:
        data = cast("dict[str, Any]", json.loads(text))
        if (version := data["marid_lock"]) != LOCK_VERSION:
            raise BadInput(f"{path}: lock file of version {version}; this version of marid reads {LOCK_VERSION}")
        return Lock(
            request=data["request"],
            encoding=data["encoding"],
            sections=dict(data["sections"]),
            files=tuple(map(_from_json_row, data["files"])),
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
        elif change := _describe_change(before[path], after[path]):
            yield f"~ {path} ({change})"


def _describe_change(old: LockedFile, new: LockedFile) -> str:
    if old.level != new.level:
        return f"{old.level} -> {new.level}"
    if old.sha256 == new.sha256:
        return ""
    return f"{old.tokens} -> {new.tokens} tokens" if old.tokens != new.tokens else "content changed"


def _to_json_row(one: LockedFile) -> Mapping[str, object]:
    row = one._asdict()
    symbols = [
        {"name": name, "show": choice.value, "anchor": anchor.to_dict() if anchor else None}
        for name, choice, anchor in row.pop("symbols")
    ]
    return row | ({"symbols": symbols} if symbols else {})


def _from_json_row(row: dict[str, Any]) -> LockedFile:
    plain = {name: row[name] for name in LockedFile._fields if name not in ("spans", "symbols")}
    spans = tuple((int(start), int(end)) for start, end in row["spans"])
    symbols = (
        AnchoredSymbol(s["name"], SymbolDetail(s["show"]), TextAnchor.from_dict(s["anchor"]) if s["anchor"] else None)
        for s in row.get("symbols", ())
    )
    return LockedFile(**plain, spans=spans, symbols=tuple(symbols))


def request_to_dict(request: ContextRequest) -> dict[str, object]:
    """The options that decide what is packed; paths are relative to the folder of the lock file."""
    wanted, shown = request.selection, request.render
    home = os.path.dirname(os.path.join(request.cwd, request.lock))

    def relative_path(path: str) -> str:
        return os.path.relpath(os.path.join(request.cwd, path), home) if path else ""

    pairs = zip_longest(wanted.targets, wanted.origins, fillvalue="")
    return {
        "targets": [origin or relative_path(target) for target, origin in pairs],
        "branch": wanted.branch,
        "rules": list(wanted.rules),
        **({"only": list(wanted.only)} if wanted.only else {}),  # absent from older lock files
        "config": relative_path(wanted.config),
        **{name: getattr(wanted, name) for name in _SELECTION_FIELDS},
        "format": shown.form.value,
        **{name: getattr(shown, name) for name in _RENDER_FIELDS},
        "levels": [[rule.pattern, rule.level.value] for rule in shown.levels],
        "symbols": [[one.path, one.name, one.choice.value] for one in shown.symbols],
        "max_bytes": request.max_bytes,
        "output": relative_path(request.output),
    }


def request_from_lock(lock: Lock, path: str) -> ContextRequest:
    """The request that the lock file at `path` records. Raises: BadInput."""
    if lock.encoding not in ENCODINGS:
        raise BadInput(f"{path}: its token counts are estimates; write it again with the tokenizer installed")
    data: Mapping[str, Any] = lock.request
    try:
        return ContextRequest(
            cwd=os.path.dirname(os.path.abspath(path)),
            selection=FileSelection(
                targets=tuple(data["targets"]),
                rules=tuple(data["rules"]),
                only=tuple(data.get("only", ())),
                config=data["config"],
                branch=data["branch"],
                **{name: data[name] for name in _SELECTION_FIELDS},
            ),
            render=RenderOptions(
                form=OutputFormat(data["format"]),
                levels=tuple(LevelRule(pattern, Level(level)) for pattern, level in data["levels"]),
                symbols=tuple(SymbolChoice(file, name, SymbolDetail(choice)) for file, name, choice in data["symbols"]),
                **{name: data[name] for name in _RENDER_FIELDS},
            ),
            max_bytes=data["max_bytes"],
            encoding=lock.encoding,
            output=data["output"],
            lock=path,
        )
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"{path}: the lock file has no valid request") from error
