"""What is said in a conversation."""

from dataclasses import dataclass

from marid.app.tool_access import ToolAccess

_DEFAULT_ACCESS = ToolAccess()


@dataclass(frozen=True, kw_only=True)
class RoundRequest:
    """What is said, and under which conditions.

    `conversation` is a name or an id; one that does not exist is created. `resume` continues the last round without a
    new message. `force` ("user" or "agent") is whose turn it is after an answer without a handoff. `debug` names
    logs of model requests to write. `lock_timeout` is how many seconds to wait for a conversation that is in use. An
    `automatic` prompt comes from the program, not from a person, and does not become a title.
    """

    prompt: str
    conversation: str
    access: ToolAccess = _DEFAULT_ACCESS
    resume: bool = False
    force: str = ""
    debug: frozenset[str] = frozenset()
    lock_timeout: float = 0.0
    automatic: bool = False
