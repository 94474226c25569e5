"""What is said in a conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from marid.app.tool_access import ToolAccess

_DEFAULT_ACCESS = ToolAccess()


@dataclass(frozen=True, kw_only=True)
class RoundRequest:
    """What is said, and under which conditions.

    `conversation` is a name or an id; one that is not there is made. `flags` are settings by key, above all others.
    `resume` goes on where the last round broke off, without a new message. `force` says who has the word after an
    answer without a call that says so. `debug` holds some of core.logs.LOGS. `wait` are seconds for whoever
    holds the conversation. `face` names the way in. With `unsaid` the prompt is the program's own: no person has said
    it, and it is no title.
    """

    prompt: str
    conversation: str
    access: ToolAccess = _DEFAULT_ACCESS
    flags: Mapping[str, object] = field(default_factory=dict[str, object])
    resume: bool = False
    force: str = ""
    debug: frozenset[str] = frozenset()
    lock_timeout: float = 0.0
    face: str = "cli"
    automatic: bool = False
