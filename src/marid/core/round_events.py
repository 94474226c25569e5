"""What happens in a round, and how it ends."""

from typing import Literal, NamedTuple, TypeAlias

from marid.core.conversation.entry import Entry
from marid.core.events import Notice, QuestionAnswered, QuestionAsked, ToolCalled
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage

AFTER_CONTINUATION = "after_continuation"
"""A fuel event: the model continues by itself, after `call_agent` or because that is the fallback."""


class ReplyEnded(NamedTuple):
    """One reply of the model is complete. Another may follow, after the tools that it called."""


class EntryStored(NamedTuple):
    """An entry is in the transcript."""

    entry: Entry


class ToolStarted(NamedTuple):
    """A call of the model is about to run. `id` is the model's id of the call.

    `call` is the id of its entry, by which approvals and records name the call. `summary` shows the arguments that
    matter to a person.
    """

    id: str
    name: str
    summary: str | None
    call: str = ""


class ToolEnded(NamedTuple):
    """The result of a call, as the model will read it. `id` and `call` are those of ToolStarted.

    `code` is "ok", "interrupted" or the code of the error family.
    """

    id: str
    name: str
    result: str
    failed: bool
    code: str = "ok"
    seconds: float = 0.0
    call: str = ""
    cached: bool = False


class FuelStatus(NamedTuple):
    """How many requests are left; `event` is entering_turn, after_tool_batch, after_continuation or empty_response.

    Not emitted without a limit. `prompt_preview` is the beginning of a continuation's prompt.
    """

    remaining: int
    total: int
    event: str
    prompt_preview: str | None = None


class FuelExhausted(NamedTuple):
    """No request is left: the round ends."""

    total: int


class WindowWarning(NamedTuple):
    """The window is nearly full: about `tokens_remaining` of `limit` are left."""

    tokens_remaining: int
    limit: int


class InboxInjected(NamedTuple):
    """How many messages of other conversations were put before the prompt."""

    messages: int


class UsageReported(NamedTuple):
    """What one request has cost."""

    model: str
    usage: Usage


EndReason: TypeAlias = Literal["answered", "handed", "fuel", "loop", "empty", "length", "filtered", "nothing"]


class RoundEnd(NamedTuple):
    """Why a round is over: its last event. An error is raised instead, after everything that came is stored.

    answered: the answer is complete; handed: the model called `call_user`; fuel: no request is left; loop: the model
    repeats the same call; empty: it repeats empty replies; length, filtered: the provider cut the answer; nothing:
    there was nothing to continue with.
    """

    reason: EndReason
    round: str
    text: str = ""
    """The answer: the text of the last reply, and that of `call_user`."""


RoundEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ReplyEnded
    | EntryStored
    | ToolStarted
    | ToolEnded
    | FuelStatus
    | FuelExhausted
    | WindowWarning
    | InboxInjected
    | RetryScheduled
    | UsageReported
    | ToolCalled
    | QuestionAsked
    | QuestionAnswered
    | Notice
    | RoundEnd
)
