"""Port to the audit log of tool calls."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from marid.core.caller import Caller


class AuditRecord(NamedTuple):
    """One call. `code` is "ok" or the code of the error family; `trace` is for bugs only. A `durable` record, of a call
    that changed something, is on the disk before the call returns.
    """

    time: float
    call: str
    caller: Caller
    tool: str
    effect: str
    verdict: str
    approval: str
    code: str
    message: str
    seconds: float
    size: int
    args: Mapping[str, object]
    trace: str = ""
    durable: bool = False


class AuditLog(Protocol):
    """Stores records. Neither method raises: a broken log must not stop a call."""

    def record(self, record: AuditRecord) -> str | None:
        """Store the record with secrets masked. Returns, once, why records cannot be stored."""
        ...

    def save_script(self, text: str, suffix: str) -> str | None:
        """Store a generated script with that suffix (".sh"). Returns its path, or None if that fails."""
        ...
