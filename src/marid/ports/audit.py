"""What was called, by whom, and what came of it."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from marid.core.caller import Caller


class AuditRecord(NamedTuple):
    """One call. `code` is "ok" or the code of the error family; `trace` is for bugs only.

    `durable`: on the disk before the call returns, since it changed something.
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
    """Keeps records. Neither method raises: a log that is broken stops nobody, but is told once."""

    def record(self, record: AuditRecord) -> str | None:
        """Keep it, secrets masked. The words are for a person: why records are not kept."""
        ...

    def save_script(self, text: str, suffix: str) -> str | None:
        """Keep the text of a command as a file of that suffix (".sh"): where it is, or None if it cannot be kept."""
        ...
