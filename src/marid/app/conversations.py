"""Conversations as a person handles them: which one is meant, which there are, and what becomes of them."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from marid.app.app import App
from marid.app.memory import Memory
from marid.core.conversation import Conflict, Current, Expiry, Hit, Holder, Meta, Swept
from marid.core.entry import ANCHORS, FLOW_CALL, FLOW_RESULT, MESSAGE, TO_USER, TOOL_CALL, TOOL_RESULT, Entry
from marid.core.errors import BadInput, NotFound
from marid.ports.transcript import Transcript
from marid.text.names import check_name

PREVIOUS, NEW = "-", "new"
_FLOW = MappingProxyType({FLOW_CALL: TOOL_CALL, FLOW_RESULT: TOOL_RESULT})


class Listed(NamedTuple):
    """One of many; nobody holds it without a `holder`."""

    meta: Meta
    holder: Holder | None


class Overview(NamedTuple):
    """One conversation in three lines."""

    meta: Meta
    holder: Holder | None
    messages: int
    summary: str


def memory_of(app: App, key: str) -> Memory:
    """What keeps conversations, with the settings of the one of that name or id. Raises: BadInput; Unavailable."""
    name = app.memory(app.settings).conversations.name_of(key)
    return app.memory(app.resolve(name, {}).settings)


def current(app: App) -> Current:
    """Which conversation is meant where none is named, and which was before it. Raises: Corrupt."""
    return app.memory(app.settings).session.current()


def meant(app: App, word: str = "", *, stay: bool = False, clock: float | None = None) -> str:
    """The name that a person means: nothing for the current one, `-` the one before, `new` or `new:PREFIX` a new name,
    else a name or an id. With `stay` it is the current one from now on.

    Raises: BadInput for what cannot be a name, and for `-` where there was none before; Corrupt; Unavailable.
    """
    memory = app.memory(app.settings)
    now = memory.session.current()
    name = _name_meant(memory, now, word, time.time() if clock is None else clock)
    if stay:
        memory.session.switch(name)
    return name


def check_word(word: str, *, fresh: bool = False) -> None:
    """See that a word can mean a conversation: `-`, a name or an id; with `fresh` also a new one.

    Raises: BadInput.
    """
    if word == PREVIOUS or (fresh and word == NEW):
        return
    if fresh and word == f"{NEW}:":
        raise BadInput("`new:` needs a prefix; `new` alone has none")
    check_name(word.removeprefix(f"{NEW}:") if fresh else word)


def _name_meant(memory: Memory, now: Current, word: str, clock: float) -> str:
    if not word:
        return check_name(now.implied)
    if word == PREVIOUS:
        if not now.previous:
            raise BadInput("there is no previous conversation to go back to")
        return check_name(now.previous)
    if word == NEW or word.startswith(f"{NEW}:"):
        return _fresh(memory, word, clock)
    return memory.conversations.name_of(word)


def _fresh(memory: Memory, word: str, clock: float) -> str:
    """A name that nobody has: the prefix and the local time."""
    check_word(word, fresh=True)
    prefix = word[len(NEW) + 1 :]
    stem = (f"{prefix}_" if prefix else "") + time.strftime("%Y%m%d_%H%M%S", time.localtime(clock))
    # One that is meant and not used yet is nowhere but there.
    taken = {*memory.session.current(), *(meta.name for meta in memory.conversations.list())}
    number = 1
    name = stem
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    return check_name(name)


def listing(app: App) -> tuple[Listed, ...]:
    """All conversations, by name."""
    store = app.memory(app.settings).conversations
    listed: list[Listed] = []
    for meta in store.list():
        with suppress(NotFound):  # renamed or destroyed in this moment
            listed.append(Listed(meta, store.holder(meta.name)))
    return tuple(listed)


def names(app: App) -> tuple[str, ...]:
    """What conversations are called."""
    return tuple(meta.name for meta in app.memory(app.settings).conversations.list())


def overview(app: App, key: str) -> Overview:
    """One conversation in short; one that was never used has no messages. Raises: BadInput; Unavailable."""
    store = memory_of(app, key).conversations
    try:
        transcript = store.read(key)
    except NotFound:
        return Overview(Meta(id="", name=check_name(key)), None, 0, "")
    spoken = sum(entry.entry_type == MESSAGE for entry in transcript.window())
    first = transcript.note("summary").strip().partition("\n")[0]
    return Overview(store.look(key), store.holder(key), spoken, first)


def transcript(app: App, key: str) -> Transcript:
    """What was said in a conversation, whoever holds it. Raises: NotFound; BadInput; Unavailable."""
    return memory_of(app, key).conversations.read(key)


def log(app: App, key: str, count: int = 0) -> tuple[Entry, ...]:
    """The window without anchors, cut to `count` entries. Raises: NotFound; BadInput; Unavailable."""
    return tuple(cut(shown(transcript(app, key)), count))


def cut(entries: Iterable[Entry], count: int) -> Iterable[Entry]:
    """The last `count` entries, the first ones for a negative number, all for 0 or for more than there can be."""
    if not count or abs(count) > sys.maxsize:
        return entries
    return deque(entries, count) if count > 0 else islice(entries, -count)


def shown(found: Transcript) -> tuple[Entry, ...]:
    """The window without its anchors. Raises: NotFound; Unavailable."""
    return tuple(entry for entry in found.window() if entry.entry_type not in ANCHORS)


def told(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries as a person reads them: what a model says by `call_user` is a message, other hand-overs are calls."""
    for entry in entries:
        kind = _FLOW.get(entry.entry_type)
        if kind is None:
            yield entry
        elif entry.to == TO_USER and (message := _message(entry.content)):
            yield entry._replace(entry_type=MESSAGE, content=message)
        elif TO_USER not in (entry.to, entry.sender):
            yield entry._replace(entry_type=kind)


def _message(arguments: str) -> str:
    from marid.engine.messages import parsed  # imported when used: most that is read was said without a call

    given = parsed(arguments)
    message = arguments if given is None else given.get("message")
    return message if isinstance(message, str) else ""


def clear(app: App, key: str) -> bool:
    """Archive the history, so that the window is empty; false when there was nothing to archive.

    Raises: BadInput; Held; Refused when the conversation is archived; Unavailable.
    """
    try:
        held = memory_of(app, key).conversations.open(key)
    except NotFound:
        return False
    with held:
        return held.clear() is not None


def rename(app: App, key: str, name: str) -> Meta:
    """Raises: NotFound; Conflict; BadInput; Held; Unavailable."""
    return app.memory(app.settings).conversations.rename(key, name)


def leave(app: App, name: str, instead: str = "") -> str:
    """Give up a name that is meant where none is named, and that nothing was ever said under; mean another instead, or
    the one before: that is returned.

    Raises: NotFound when it is not the one that is meant; Conflict when there is one of the other name; BadInput.
    """
    memory = app.memory(app.settings)
    if memory.session.current().implied != name or name == Current().implied:
        raise NotFound(f"there is no conversation '{name}'")
    if instead and memory.conversations.name_of(instead) in names(app):
        raise Conflict(f"there is a conversation '{instead}' already")
    left = memory.session.leave(name)
    return (memory.session.switch(check_name(instead)) if instead else left).implied


def archive(app: App, key: str, *, away: bool = True) -> Meta:
    """Put a conversation away, or bring it back. Raises: NotFound; BadInput; Held; Unavailable."""
    return memory_of(app, key).conversations.archive(key, away=away)


def destroy(app: App, key: str) -> bool:
    """Remove a conversation and all that belongs to it; false when there is none of that name.

    Raises: BadInput; Held; Unavailable.
    """
    try:
        app.memory(app.settings).conversations.destroy(check_name(key))
    except NotFound:
        return False
    return True


def expire(app: App, key: str, *, at: int | None = None, after_inactive: int | None = None) -> Expiry:
    """Let a conversation, which is made if it is not there, end by itself; None leaves as it is, 0 means never.

    Raises: BadInput; Unavailable.
    """
    memory = app.memory(app.settings)
    try:
        known = memory.lifetimes.expiry(key)
    except NotFound:
        memory.conversations.create(key)
        known = Expiry()
    expiry = Expiry(known.at if at is None else at, known.after_inactive if after_inactive is None else after_inactive)
    memory.lifetimes.expire(key, expiry)
    return expiry


def sweep(app: App) -> Swept:
    """Destroy the conversations whose time has come. Raises: Unavailable."""
    return app.memory(app.settings).lifetimes.sweep()


def search(
    app: App, query: str, *, whole: bool = False, tell: Callable[[str], None] = lambda _problem: None
) -> Iterator[Hit]:
    """Entries of all conversations that hold every word of the query; `tell` hears of what cannot be read.

    Raises: BadInput without any word.
    """
    if not query.strip():
        raise BadInput("say what to search for")
    return app.memory(app.settings).conversations.search(query, whole=whole, tell=tell)
