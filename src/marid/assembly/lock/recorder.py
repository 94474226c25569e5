"""Record a lock during a run, and restore the request of a lock."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from marid.assembly.items import ContextItem, Section
from marid.assembly.lock.lock_file import Lock, LockedFile, lock_file_row
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
from marid.core.errors import BadInput
from marid.text.content_hash import sha256_hex
from marid.text.tokens import ENCODINGS


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


def request_to_dict(request: ContextRequest) -> dict[str, object]:
    """The options that decide what is packed; paths are relative to the folder of the lock file."""
    wanted, shown = request.selection, request.render
    home = os.path.dirname(os.path.join(request.cwd, request.lock))

    def relative_path(path: str) -> str:
        return os.path.relpath(os.path.join(request.cwd, path), home) if path else ""

    return {
        "targets": [
            origin or relative_path(target)
            for target, origin in zip_longest(wanted.targets, wanted.origins, fillvalue="")
        ],
        "branch": wanted.branch,
        "rules": list(wanted.rules),
        "config": relative_path(wanted.config),
        "gitignore": wanted.gitignore,
        "defaults": wanted.defaults,
        "changed_since": wanted.changed_since,
        "format": shown.form.value,
        "with_tree": shown.with_tree,
        "diff": shown.diff,
        "log": shown.log,
        "line_numbers": shown.line_numbers,
        "mask": shown.mask,
        "budget": shown.budget,
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
                config=data["config"],
                gitignore=data["gitignore"],
                defaults=data["defaults"],
                changed_since=data["changed_since"],
                branch=data["branch"],
            ),
            render=RenderOptions(
                form=OutputFormat(data["format"]),
                with_tree=data["with_tree"],
                diff=data["diff"],
                log=data["log"],
                line_numbers=data["line_numbers"],
                mask=data["mask"],
                budget=data["budget"],
                levels=tuple(LevelRule(pattern, Level(level)) for pattern, level in data["levels"]),
                symbols=tuple(SymbolChoice(file, name, SymbolDetail(choice)) for file, name, choice in data["symbols"]),
            ),
            max_bytes=data["max_bytes"],
            encoding=lock.encoding,
            output=data["output"],
            lock=path,
        )
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"{path}: the lock file has no valid request") from error
