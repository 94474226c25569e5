"""Conversations as a person handles them: which one is meant, which there are, and what becomes of them."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from marid.app.app import RequestScope
from marid.core.conversation.entry import (
    ANCHORS,
    FLOW_CALL,
    FLOW_RESULT,
    MESSAGE,
    TO_USER,
    TOOL_CALL,
    TOOL_RESULT,
    Entry,
)
from marid.core.conversation.records import (
    Conflict,
    ConversationHit,
    ConversationMeta,
    CurrentConversation,
    Expiry,
    LeaseHolder,
    StorageSettings,
)
from marid.core.errors import BadInput, NotFound, Unavailable
from marid.core.settings.values import storage_settings
from marid.ports.conversations import ConversationStores
from marid.ports.transcript import ConversationReader, Transcript
from marid.text.conversation_names import check_conversation_name
from marid.text.json_values import parse_arguments

PREVIOUS, NEW = "-", "new"
_FLOW = MappingProxyType({FLOW_CALL: TOOL_CALL, FLOW_RESULT: TOOL_RESULT})


class ConversationListItem(NamedTuple):
    """One of many; nobody holds it without a `holder`."""

    meta: ConversationMeta
    holder: LeaseHolder | None


class Overview(NamedTuple):
    """One conversation in three lines."""

    meta: ConversationMeta
    holder: LeaseHolder | None
    messages: int
    summary: str


def storage_for(scope: RequestScope, key: str) -> StorageSettings:
    """The storage settings of the conversation of that name or id. Raises: BadInput; Unavailable."""
    name = scope.stores.conversations.resolve_name(key)
    return storage_settings(scope.within(name).settings)


def current(scope: RequestScope) -> CurrentConversation:
    """Which conversation is meant where none is named, and which was before it. Raises: Corrupt."""
    return scope.stores.session.current()


def resolve_name(scope: RequestScope, selector: str = "", *, switch: bool = False, clock: float | None = None) -> str:
    """The name that a person means: nothing for the current one, `-` the one before, `new` or `new:PREFIX` a new name,
    else a name or an id. With `switch` it becomes the current one.

    Raises: BadInput for what cannot be a name, and for `-` where there was none before; Corrupt; Unavailable.
    """
    memory = scope.stores
    now = memory.session.current()
    name = _select_name(memory, now, selector, time.time() if clock is None else clock)
    if switch:
        memory.session.switch(name)
        if scope.app.hooks is not None and name != now.implied:
            scope.app.hooks.run_switch(now.implied, name)
    return name


def check_selector(selector: str, *, allow_new: bool = False) -> None:
    """See that a word can mean a conversation: `-`, a name or an id; with `fresh` also a new one.

    Raises: BadInput.
    """
    if selector == PREVIOUS or (allow_new and selector == NEW):
        return
    if allow_new and selector == f"{NEW}:":
        raise BadInput("`new:` needs a prefix; `new` alone has none")
    check_conversation_name(selector.removeprefix(f"{NEW}:") if allow_new else selector)


def _select_name(memory: ConversationStores, now: CurrentConversation, selector: str, clock: float) -> str:
    if not selector:
        return now.implied  # checked where it is used, like every name
    if selector == PREVIOUS:
        if not now.previous:
            raise BadInput("there is no previous conversation to go back to")
        return now.previous
    if selector == NEW or selector.startswith(f"{NEW}:"):
        return _new_name(memory, selector, clock)
    return memory.conversations.resolve_name(selector)


def _new_name(memory: ConversationStores, selector: str, clock: float) -> str:
    """A name that nobody has: the prefix and the local time."""
    check_selector(selector, allow_new=True)
    prefix = selector[len(NEW) + 1 :]
    stem = (f"{prefix}_" if prefix else "") + time.strftime("%Y%m%d_%H%M%S", time.localtime(clock))
    # One that is meant and not used yet is nowhere but there.
    taken = {*memory.session.current(), *(meta.name for meta in memory.conversations.list())}
    number = 1
    name = stem
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    return check_conversation_name(name)


def list_conversations(scope: RequestScope) -> tuple[ConversationListItem, ...]:
    """All conversations, by name."""
    store = scope.stores.conversations
    listed: list[ConversationListItem] = []
    for meta in store.list():
        with suppress(NotFound):  # renamed or destroyed in this moment
            listed.append(ConversationListItem(meta, store.holder(meta.name)))
    return tuple(listed)


def conversation_names(scope: RequestScope) -> tuple[str, ...]:
    """What conversations are called."""
    return tuple(meta.name for meta in scope.stores.conversations.list())


def conversation_exists(scope: RequestScope, key: str, *, unused: str = "") -> bool:
    """Whether one of that name or id exists; `unused` is the one that may be unused yet.

    Raises: NotFound when another one does not exist; BadInput; Unavailable.
    """
    try:
        scope.stores.conversations.get_meta(key)
    except NotFound:
        if key != unused:
            raise
        return False
    return True


def overview(scope: RequestScope, key: str) -> Overview:
    """One conversation in short; one that was never used has no messages. Raises: BadInput; Unavailable."""
    store = scope.stores.conversations
    try:
        transcript = store.read(key)
    except NotFound:
        return Overview(ConversationMeta(id="", name=check_conversation_name(key)), None, 0, "")
    spoken = sum(entry.entry_type == MESSAGE for entry in transcript.window())
    first = transcript.read_note("summary").strip().partition("\n")[0]
    return Overview(store.get_meta(key), store.holder(key), spoken, first)


def transcript(scope: RequestScope, key: str) -> ConversationReader:
    """What was said in a conversation, whoever holds it. Raises: NotFound; BadInput; Unavailable."""
    return scope.stores.conversations.read(key)


def subscribe(scope: RequestScope, key: str, wake: Callable[[], object]) -> Callable[[], None]:
    """Call `wake` now and whenever the conversation may have changed; what is returned ends that.

    Raises: NotFound; BadInput; Unavailable.
    """
    return scope.stores.conversations.subscribe(key, wake)


def log(scope: RequestScope, key: str, count: int = 0) -> tuple[Entry, ...]:
    """The window without anchors, cut to `count` entries. Raises: NotFound; BadInput; Unavailable."""
    return tuple(take_entries(visible_entries(transcript(scope, key)), count))


def take_entries(entries: Iterable[Entry], count: int) -> Iterable[Entry]:
    """The last `count` entries, the first ones for a negative number, all for 0 or for more than there can be."""
    if not count or abs(count) > sys.maxsize:
        return entries
    return deque(entries, count) if count > 0 else islice(entries, -count)


def visible_entries(found: Transcript) -> tuple[Entry, ...]:
    """The window without its anchors. Raises: NotFound; Unavailable."""
    return tuple(entry for entry in found.window() if entry.entry_type not in ANCHORS)


def readable_entries(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries as a person reads them: what a model says by `call_user` is a message, other hand-overs are calls."""
    for entry in entries:
        kind = _FLOW.get(entry.entry_type)
        if kind is None:
            yield entry
        elif entry.to == TO_USER and (message := _call_user_message(entry.content)):
            yield entry._replace(entry_type=MESSAGE, content=message)
        elif TO_USER not in (entry.to, entry.sender):
            yield entry._replace(entry_type=kind)


def _call_user_message(arguments: str) -> str:
    given = parse_arguments(arguments)
    message = arguments if given is None else given.get("message")
    return message if isinstance(message, str) else ""


def clear(scope: RequestScope, key: str) -> bool:
    """Archive the history, so that the window is empty; false when there was nothing to archive.

    Raises: BadInput; Held; Refused when the conversation is archived; Unavailable.
    """
    try:
        held = scope.stores.conversations.open(key, storage_for(scope, key))
    except NotFound:
        return False
    with held:
        if scope.app.hooks is None:
            return held.clear() is not None
        name = held.meta().name
        scope.app.hooks.run_pre_clear(name)
        cleared = held.clear() is not None
        scope.app.hooks.run_post_clear(name)
        return cleared


def rename(scope: RequestScope, key: str, name: str) -> ConversationMeta:
    """Raises: NotFound; Conflict; BadInput; Held; Unavailable."""
    return scope.stores.conversations.rename(key, name)


def abandon_name(scope: RequestScope, name: str, instead: str = "") -> str:
    """Give up a name that is meant where none is named, and that nothing was ever said under; mean another instead, or
    the one before: that is returned.

    Raises: NotFound when it is not the one that is meant; Conflict when there is one of the other name; BadInput.
    """
    memory = scope.stores
    if memory.session.current().implied != name or name == CurrentConversation().implied:
        raise NotFound(f"there is no conversation '{name}'")
    if instead and memory.conversations.resolve_name(instead) in conversation_names(scope):
        raise Conflict(f"there is a conversation '{instead}' already")
    left = memory.session.leave(name)
    return (memory.session.switch(check_conversation_name(instead)) if instead else left).implied


def archive(scope: RequestScope, key: str, *, away: bool = True) -> ConversationMeta:
    """Put a conversation away, or bring it back. Raises: NotFound; BadInput; Held; Unavailable."""
    return scope.stores.conversations.archive(key, storage_for(scope, key), archived=away)


def destroy(scope: RequestScope, key: str) -> bool:
    """Remove a conversation and all that belongs to it; false when there is none of that name.

    Raises: BadInput; Held; Unavailable.
    """
    try:
        scope.stores.conversations.destroy(check_conversation_name(key))
    except NotFound:
        return False
    return True


def expire(scope: RequestScope, key: str, *, at: int | None = None, after_inactive: int | None = None) -> Expiry:
    """Let a conversation, which is made if it is not there, end by itself; None leaves as it is, 0 means never.

    Raises: BadInput; Unavailable.
    """
    memory = scope.stores
    try:
        known = memory.lifetimes.expiry(key)
    except NotFound:
        memory.conversations.create(key)
        known = Expiry()
    expiry = Expiry(known.at if at is None else at, known.after_inactive if after_inactive is None else after_inactive)
    memory.lifetimes.set_expiry(key, expiry)
    return expiry


class SweepReport(NamedTuple):
    """The names of the destroyed conversations, a problem that was met, and why nothing could be destroyed."""

    gone: tuple[str, ...] = ()
    problem: str = ""
    failure: str = ""


def sweep(scope: RequestScope) -> SweepReport:
    """Destroy the conversations whose time has come. A home that cannot be written can still be read."""
    if not os.path.isdir(scope.home):
        return SweepReport()
    try:
        return SweepReport(*scope.stores.lifetimes.sweep())
    except Unavailable as error:
        return SweepReport(failure=f"cannot delete expired conversations: {error}")


def search(
    scope: RequestScope, query: str, *, whole: bool = False, tell: Callable[[str], None] = lambda _problem: None
) -> Iterator[ConversationHit]:
    """Entries of all conversations that hold every word of the query; `tell` hears of what cannot be read.

    Raises: BadInput without any word.
    """
    if not query.strip():
        raise BadInput("say what to search for")
    return scope.stores.conversations.search(query, whole=whole, on_problem=tell)
