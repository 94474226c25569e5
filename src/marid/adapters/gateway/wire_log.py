"""What goes over the wire, written down when somebody asks for it."""

import json
import os
from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias

from marid.core.errors import Unavailable

RecordKind: TypeAlias = Literal["request", "response"]


class WireLog(Protocol):
    """Takes records that hold no secrets any more."""

    def note(self, kind: RecordKind, record: Mapping[str, Any]) -> None:
        """Keep a record. Raises: Unavailable when it cannot be kept."""
        ...


class WireLogFiles:
    """Appends records as JSON lines to the files that are named; a kind without a file is not kept."""

    def __init__(self, *, requests: str = "", responses: str = "") -> None:
        self._files: dict[RecordKind, str] = {"request": requests, "response": responses}

    def note(self, kind: RecordKind, record: Mapping[str, Any]) -> None:
        """As in the protocol; a file is made readable by its owner only."""
        path = self._files[kind]
        if not path:
            return
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            at = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.write(at, line)
            finally:
                os.close(at)
        except OSError as cause:
            raise Unavailable(f"cannot write the log '{path}': {cause.strerror}") from cause
