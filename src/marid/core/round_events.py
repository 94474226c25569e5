"""What happens in a round, and how it ends. Terminal, JSONL and every other wire are renderings of these."""

from typing import Literal, NamedTuple, TypeAlias

from marid.core.conversation.entry import Entry
from marid.core.events import Notice, QuestionAnswered, QuestionAsked, ToolCalled
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage

AFTER_CONTINUATION = "after_continuation"
"""An event of fuel: the model has given the word to itself, or has got it back without asking for it."""


class ReplyEnded(NamedTuple):
    """One reply of the model is whole; its words end here. Another may follow, after the tools that it called."""


class EntryStored(NamedTuple):
    """An entry is in the transcript."""

    entry: Entry


class ToolStarted(NamedTuple):
    """A call of the model is about to be made; `summary` is what it is about, in a few words, or nothing."""

    id: str
    name: str
    summary: str


class ToolEnded(NamedTuple):
    """What the call came to, as the model will read it."""

    id: str
    name: str
    text: str
    failed: bool


class FuelStatus(NamedTuple):
    """How many requests are left; `event` is entering_turn, after_tool_batch, after_continuation or empty_response.

    Not told when fuel has no limit. `preview` is the beginning of a continuation's prompt, which may have none.
    """

    remaining: int
    total: int
    event: str
    preview: str = ""


class FuelExhausted(NamedTuple):
    """The round ends with what there is."""

    total: int


class WindowWarning(NamedTuple):
    """The window is nearly full: about so many tokens of `limit` are left."""

    remaining: int
    limit: int


class InboxInjected(NamedTuple):
    """So many messages of other conversations were put before the prompt."""

    messages: int


class UsageReported(NamedTuple):
    """What one request has cost."""

    model: str
    usage: Usage


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
)

EndReason: TypeAlias = Literal["answered", "handed", "fuel", "loop", "empty", "length", "filtered", "nothing"]


class RoundEnd(NamedTuple):
    """Why a round is over. What went wrong is raised instead, once everything that there was is stored.

    answered: the model has said its last word; handed: it gave the word to the user by a call; fuel: no request is
    left; loop: the same call again and again; empty: it says nothing, again and again; length, filtered: the provider
    cut the answer; nothing: there was nothing to go on with.
    """

    reason: EndReason
    round: str
    text: str = ""
    """The answer: the words of the last reply, and those of `call_user`."""
