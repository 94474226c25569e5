"""What happens around the rounds of one command, for faces that report it to a program."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias


class LoadSummary(NamedTuple):
    """The tools of this process."""

    builtin_count: int
    builtin_names: Sequence[str]
    plugin_count: int = 0
    plugin_names: Sequence[str] = ()


class AutoDestroyed(NamedTuple):
    """Conversations that expired and are destroyed."""

    total: int
    names: Sequence[str]


class SystemPromptSet(NamedTuple):
    """A conversation has its own system prompt, or with `own` false the default one again."""

    context: str
    own: bool


class ModelSet(NamedTuple):
    """A conversation uses this model from now on."""

    model: str
    context: str


class InboxProcessing(NamedTuple):
    """A conversation is about to act on its messages."""

    messages: int
    context: str


class InboxEmpty(NamedTuple):
    """A conversation has no messages."""

    context: str


class InboxFailed(NamedTuple):
    """A conversation could not act on its messages."""

    context: str
    code: str
    message: str


class InboxesProcessed(NamedTuple):
    """How many conversations have acted on their messages."""

    conversations: int


class AllInboxesEmpty(NamedTuple):
    """No conversation has messages."""


class CommandDone(NamedTuple):
    """The command is over; without `ok` there are a code and a message."""

    ok: bool
    code: str | None = None
    message: str | None = None


CommandEvent: TypeAlias = (
    LoadSummary
    | AutoDestroyed
    | SystemPromptSet
    | ModelSet
    | InboxProcessing
    | InboxEmpty
    | InboxFailed
    | InboxesProcessed
    | AllInboxesEmpty
    | CommandDone
)
