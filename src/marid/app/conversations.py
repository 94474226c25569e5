"""Find, list, read, change and delete conversations."""

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
    call_arguments,
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

PREVIOUS, NEW = "-", "new"
_FLOW = MappingProxyType({FLOW_CALL: TOOL_CALL, FLOW_RESULT: TOOL_RESULT})


class ConversationListItem(NamedTuple):
    """A conversation, and the process that uses it now."""

    meta: ConversationMeta
    holder: LeaseHolder | None


class Overview(NamedTuple):
    """A short description of one conversation."""

    meta: ConversationMeta
    holder: LeaseHolder | None
    messages: int
    summary: str


def storage_for(scope: RequestScope, key: str) -> StorageSettings:
    """The storage settings of the conversation of that name or id. Raises: BadInput; Unavailable."""
    name = scope.stores.conversations.resolve_name(key)
    return storage_settings(scope.within(name).settings)


def current(scope: RequestScope) -> CurrentConversation:
    """The current conversation and the previous one. Raises: Corrupt."""
    return scope.stores.session.current()


def resolve_name(scope: RequestScope, selector: str = "", *, switch: bool = False, clock: float | None = None) -> str:
    """The name of the conversation that `selector` means: "" the current one, `-` the previous one, `new` or
    `new:PREFIX` a new one, else a name or an id. With `switch` it becomes the current one.

    Raises: BadInput for an invalid name, and for `-` without a previous one; Corrupt; Unavailable.
    """
    stores = scope.stores
    now = stores.session.current()
    name = _select_name(stores, now, selector, time.time() if clock is None else clock)
    if switch:
        stores.session.switch(name)
        if scope.app.hooks is not None and name != now.implied:
            scope.app.hooks.run_switch(now.implied, name)
    return name


def check_selector(selector: str, *, allow_new: bool = False) -> None:
    """Raises: BadInput unless it is `-`, a name or an id; with `allow_new` also `new` or `new:PREFIX`."""
    if selector == PREVIOUS or (allow_new and selector == NEW):
        return
    if allow_new and selector == f"{NEW}:":
        raise BadInput("`new:` needs a prefix; `new` alone has none")
    check_conversation_name(selector.removeprefix(f"{NEW}:") if allow_new else selector)


def _select_name(stores: ConversationStores, now: CurrentConversation, selector: str, clock: float) -> str:
    if not selector:
        return now.implied  # checked where it is used, like every name
    if selector == PREVIOUS:
        if not now.previous:
            raise BadInput("there is no previous conversation to go back to")
        return now.previous
    if selector == NEW or selector.startswith(f"{NEW}:"):
        return _new_name(stores, selector, clock)
    return stores.conversations.resolve_name(selector)


def _new_name(stores: ConversationStores, selector: str, clock: float) -> str:
    """An unused name: the prefix and the local time."""
    check_selector(selector, allow_new=True)
    prefix = selector[len(NEW) + 1 :]
    stem = (f"{prefix}_" if prefix else "") + time.strftime("%Y%m%d_%H%M%S", time.localtime(clock))
    # A current conversation without entries exists only in the session.
    taken = {*stores.session.current(), *(meta.name for meta in stores.conversations.list())}
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
    """The names of all conversations."""
    return tuple(meta.name for meta in scope.stores.conversations.list())


def conversation_exists(scope: RequestScope, key: str, *, unused: str = "") -> bool:
    """Whether the conversation exists. Only `unused` may be missing.

    Raises: NotFound if any other is missing; BadInput; Unavailable.
    """
    try:
        scope.stores.conversations.get_meta(key)
    except NotFound:
        if key != unused:
            raise
        return False
    return True


def overview(scope: RequestScope, key: str) -> Overview:
    """Describe a conversation, also one without entries. Raises: BadInput; Unavailable."""
    store = scope.stores.conversations
    try:
        transcript = store.read(key)
    except NotFound:
        return Overview(ConversationMeta(id="", name=check_conversation_name(key)), None, 0, "")
    spoken = sum(entry.entry_type == MESSAGE for entry in transcript.window())
    first = transcript.read_note("summary").strip().partition("\n")[0]
    return Overview(store.get_meta(key), store.holder(key), spoken, first)


def transcript(scope: RequestScope, key: str) -> ConversationReader:
    """Read a conversation, also while it is in use. Raises: NotFound; BadInput; Unavailable."""
    return scope.stores.conversations.read(key)


def subscribe(scope: RequestScope, key: str, wake: Callable[[], object]) -> Callable[[], None]:
    """Call `wake` now and on every change, until the returned function is called.

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
    """Entries for a reader: a message passed by `call_user` becomes a message, other handoffs become calls."""
    for entry in entries:
        kind = _FLOW.get(entry.entry_type)
        if kind is None:
            yield entry
        elif entry.to == TO_USER and (message := _call_user_message(entry.content)):
            yield entry._replace(entry_type=MESSAGE, content=message)
        elif TO_USER not in (entry.to, entry.sender):
            yield entry._replace(entry_type=kind)


def _call_user_message(arguments: str) -> str:
    given = call_arguments(arguments)
    message = arguments if given is None else given.get("message")
    return message if isinstance(message, str) else ""


def clear(scope: RequestScope, key: str) -> bool:
    """Archive the history and empty the window; false if there was nothing to archive.

    Raises: BadInput; ConversationLocked; Refused if the conversation is archived; Unavailable.
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
    """Raises: NotFound; Conflict; BadInput; ConversationLocked; Unavailable."""
    return scope.stores.conversations.rename(key, name)


def abandon_name(scope: RequestScope, name: str, instead: str = "") -> str:
    """Leave the current conversation, which has no entries: switch to `instead`, or to the previous one. Returns it.

    Raises: NotFound if `name` is not the current one; Conflict if `instead` exists; BadInput.
    """
    stores = scope.stores
    if stores.session.current().implied != name or name == CurrentConversation().implied:
        raise NotFound(f"there is no conversation '{name}'")
    if instead and stores.conversations.resolve_name(instead) in conversation_names(scope):
        raise Conflict(f"there is a conversation '{instead}' already")
    left = stores.session.leave(name)
    return (stores.session.switch(check_conversation_name(instead)) if instead else left).implied


def archive(scope: RequestScope, key: str, *, away: bool = True) -> ConversationMeta:
    """Archive a conversation, or restore it. Raises: NotFound; BadInput; ConversationLocked; Unavailable."""
    return scope.stores.conversations.archive(key, storage_for(scope, key), archived=away)


def destroy(scope: RequestScope, key: str) -> bool:
    """Delete a conversation with all its files; false if there is none of that name.

    Raises: BadInput; ConversationLocked; Unavailable.
    """
    try:
        scope.stores.conversations.destroy(check_conversation_name(key))
    except NotFound:
        return False
    return True


def expire(scope: RequestScope, key: str, *, at: int | None = None, after_inactive: int | None = None) -> Expiry:
    """Set when a conversation expires, and create it if it does not exist. None keeps a value, 0 is never.

    Raises: BadInput; Unavailable.
    """
    stores = scope.stores
    try:
        known = stores.lifetimes.expiry(key)
    except NotFound:
        stores.conversations.create(key)
        known = Expiry()
    expiry = Expiry(known.at if at is None else at, known.after_inactive if after_inactive is None else after_inactive)
    stores.lifetimes.set_expiry(key, expiry)
    return expiry


class SweepReport(NamedTuple):
    """The names of the deleted conversations, a problem for the user, and why nothing could be deleted."""

    gone: tuple[str, ...] = ()
    problem: str = ""
    failure: str = ""


def sweep(scope: RequestScope) -> SweepReport:
    """Delete expired conversations. A home that is read-only can still be read."""
    if not os.path.isdir(scope.home):
        return SweepReport()
    try:
        return SweepReport(*scope.stores.lifetimes.sweep())
    except Unavailable as error:
        return SweepReport(failure=f"cannot delete expired conversations: {error}")


def search(
    scope: RequestScope, query: str, *, whole: bool = False, on_problem: Callable[[str], None] = lambda _problem: None
) -> Iterator[ConversationHit]:
    """Entries of all conversations that have every word of the query; `on_problem` gets what cannot be read.

    Raises: BadInput for a blank query.
    """
    if not query.strip():
        raise BadInput("say what to search for")
    return scope.stores.conversations.search(query, whole=whole, on_problem=on_problem)
