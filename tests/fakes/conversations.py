"""All ports of conversations in memory."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from threading import RLock
from typing import Self, cast

from marid.core.conversation.entry import ANCHORS, ARCHIVAL, CONTEXT_CREATED, NEVER_IN_WINDOW, SYSTEM, Entry, new_id
from marid.core.conversation.records import (
    DEFAULT_STORAGE,
    NOTES,
    Conflict,
    ConversationHit,
    ConversationLocked,
    ConversationMeta,
    CurrentConversation,
    Expiry,
    InboxContents,
    InboxMessage,
    LeaseHolder,
    SequenceConflict,
    StorageSettings,
    SweepResult,
)
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.ports.conversations import ConversationStores
from marid.text.conversation_names import check_conversation_name


class Box:
    """One conversation."""

    def __init__(self, meta: ConversationMeta) -> None:
        self.meta = meta
        self.entries: list[Entry] = []
        self.notes: dict[str, str] = {}
        self.inbox: list[InboxMessage] = []
        self.expiry = Expiry()
        self.used = 0
        self.token = 0
        self.held = False
        self.followers: list[Callable[[], object]] = []

    def wake(self) -> None:
        for follower in tuple(self.followers):
            try:
                follower()
            except Exception:  # noqa: BLE001 (as the real one)
                self.followers.remove(follower)


class FakeTranscript:
    """The port ConversationReader."""

    def __init__(self, box: Box, home: "FakeConversations") -> None:
        self._kept = box
        self._home = home

    @property
    def _box(self) -> Box:
        return self._home.check_exists(self._kept)

    def meta(self) -> ConversationMeta:
        return self._box.meta

    def sequence(self) -> int:
        return len(self._box.entries)

    def window(self) -> tuple[Entry, ...]:
        entries = list(self._box.entries)
        at = max(index for index, entry in enumerate(entries) if entry.entry_type in ANCHORS)
        kept = entries[at].metadata.get("kept")
        keys = cast("list[str]", kept) if isinstance(kept, list) else []
        known = {entry.id: entry for entry in entries}
        later = [entry for entry in entries[at + 1 :] if entry.entry_type not in NEVER_IN_WINDOW]
        return (entries[at], *(known[key] for key in keys), *later)

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        yield from [entry for entry in self._box.entries[after:] if not types or entry.entry_type in types]

    def find(self, key: str) -> Entry | None:
        return next((entry for entry in self._box.entries if entry.id == key), None)

    def search(self, query: str, *, whole_words: bool = False) -> Iterator[Entry]:
        wanted = query.casefold().split()
        for entry in list(self._box.entries):
            text = entry.content.casefold()
            words = "".join(letter if letter.isalnum() else " " for letter in text).split()
            if wanted and all(part in (words if whole_words else text) for part in wanted):
                yield entry

    def read_note(self, name: str) -> str:
        return self._notes(name).get(name, "")

    def problems(self) -> tuple[str, ...]:
        return ()

    def _notes(self, name: str) -> dict[str, str]:
        box = self._box
        if name not in NOTES:
            raise BadInput(f"there is no note '{name}'")
        return self._home.notes if name == "reflection" else box.notes


class FakeConversation(FakeTranscript):
    """The port Conversation."""

    def __init__(self, box: Box, home: "FakeConversations") -> None:
        super().__init__(box, home)
        box.held = True
        box.token += 1
        self._token = box.token
        self._closed = False

    @property
    def _box(self) -> Box:
        self._open()
        return self._kept

    def problems(self) -> tuple[str, ...]:
        self._open()
        return ()

    def fencing_token(self) -> int:
        self._open()
        return self._token

    def append(self, entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        with self._home.lock:
            self._check_writable()
            last = len(self._box.entries)
            if expected is not None and expected != last:
                raise SequenceConflict(f"the conversation is at {last}", last)
            now = round(self._home.clock() * 1000)
            stored = tuple(
                entry._replace(id=entry.id or new_id(), sequence=last + number, time_ms=entry.time_ms or now)
                for number, entry in enumerate(entries, 1)
            )
            self._box.entries += stored
            self._box.meta = self._box.meta._replace(last_message_ms=now)
            self._box.wake()
            return stored

    def add_anchor(self, anchor: Entry, kept: Sequence[str] = ()) -> Entry:
        there = {entry.id for entry in self.window()}
        if anchor.entry_type not in ANCHORS or not there.issuperset(kept):
            raise BadInput("not an anchor, or an id is not in the window")
        metadata = {**anchor.metadata, "kept": list(kept)} if kept else anchor.metadata
        return self.append([anchor._replace(metadata=metadata)])[0]

    def clear(self) -> Entry | None:
        if all(entry.entry_type in ANCHORS for entry in self.window()):
            return None
        return self.add_anchor(Entry(entry_type=ARCHIVAL, sender=SYSTEM))

    def update_meta(self, update: Callable[[ConversationMeta], ConversationMeta]) -> ConversationMeta:
        with self._home.lock:
            self._open()
            old, new = self._box.meta, update(self._box.meta)
            self._box.meta = new._replace(id=old.id, name=old.name, extra={**old.extra, **new.extra})
            return self._box.meta

    def write_note(self, name: str, text: str) -> None:
        self._check_writable()
        self._notes(name)[name] = text
        if name == "system_prompt":
            self.append([Entry(entry_type="system_prompt_changed", content=text, sender=SYSTEM)])

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._kept.held = False
            self._kept.used = int(self._home.clock())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _open(self) -> None:
        if self._closed:
            raise Unavailable("the conversation is closed")

    def _check_writable(self) -> None:
        self._open()
        if self._box.meta.archived_ms:
            raise Refused("the conversation is archived")


class FakeConversations:
    """The ports of a home, for one process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.lock = RLock()
        self.notes: dict[str, str] = {}
        self._boxes: dict[str, Box] = {}
        self._current = CurrentConversation()
        self.session = self
        self.inbox = self

    def stores(self) -> ConversationStores:
        return ConversationStores(self, self, self, self, self)

    def check_exists(self, box: Box) -> Box:
        if box not in self._boxes.values():
            raise NotFound(f"there is no conversation '{box.meta.name}'")
        return box

    def list(self, owner: str = "", *, after: str = "", limit: int = 0) -> tuple[ConversationMeta, ...]:
        metas = [self._boxes[name].meta for name in sorted(self._boxes) if name > after]
        return tuple([meta for meta in metas if meta.owner == owner][: limit or None])

    def get_meta(self, key: str) -> ConversationMeta:
        return self._box(key).meta

    def resolve_name(self, key: str) -> str:
        try:
            return self._box(key).meta.name
        except NotFound:
            return key

    def create(self, name: str = "", *, source: str = "CLI", title: str = "", owner: str = "") -> ConversationMeta:
        key = new_id()
        check_conversation_name(name or key)
        if any(name in (box.meta.name, box.meta.id) for box in self._boxes.values()):
            raise Conflict(f"there is a conversation '{name}' already")
        now = round(self.clock() * 1000)
        meta = ConversationMeta(id=key, name=name or key, source=source, title=title, created_ms=now, owner=owner)
        box = Box(meta)
        box.entries.append(Entry(entry_type=CONTEXT_CREATED, sender=SYSTEM, id=new_id(), sequence=1, time_ms=now))
        self._boxes[name or key] = box
        return box.meta

    def open(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, wait: float = 0.0, create: bool = False
    ) -> FakeConversation:
        if create and self.resolve_name(key) not in self._boxes:
            self.create(key)
        box = self._free(key, wait)
        box.used = int(self.clock())
        return FakeConversation(box, self)

    def read(self, key: str) -> FakeTranscript:
        return FakeTranscript(self._box(key), self)

    def rename(self, key: str, name: str) -> ConversationMeta:
        check_conversation_name(name)
        box = self._free(key)
        if any(other is not box and name in (other.meta.name, other.meta.id) for other in self._boxes.values()):
            raise Conflict(f"there is a conversation '{name}' already")
        del self._boxes[box.meta.name]
        self._current = CurrentConversation(*(name if known == box.meta.name else known for known in self._current))
        box.meta = box.meta._replace(name=name)
        self._boxes[name] = box
        box.wake()
        return box.meta

    def archive(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, archived: bool = True
    ) -> ConversationMeta:
        box = self._free(key)
        box.meta = box.meta._replace(archived_ms=round(self.clock() * 1000) if archived else 0)
        return box.meta

    def destroy(self, key: str) -> None:
        box = self._free(key)
        del self._boxes[box.meta.name]
        self.leave(box.meta.name)
        box.wake()

    def holder(self, key: str) -> LeaseHolder | None:
        box = self._box(key)
        return LeaseHolder(pid=1, host="here", token=box.token) if box.held else None

    def search(
        self, query: str, *, whole: bool = False, on_problem: Callable[[str], None] = lambda _problem: None
    ) -> Iterator[ConversationHit]:
        for name in sorted(self._boxes):
            for entry in self.read(name).search(query, whole_words=whole):
                yield ConversationHit(name, entry)

    def subscribe(self, key: str, wake: Callable[[], object]) -> Callable[[], None]:
        box = self._box(key)
        box.followers.append(wake)
        wake()

        def unsubscribe() -> None:
            with suppress(ValueError):
                box.followers.remove(wake)

        return unsubscribe

    def settings_folder(self, name: str) -> str:
        return f"/fake/{check_conversation_name(name)}"

    def log_file(self, name: str, file: str) -> str:
        return f"{self.settings_folder(name)}/{file}"

    def expiry(self, key: str) -> Expiry:
        return self._box(key).expiry

    def set_expiry(self, key: str, expiry: Expiry) -> None:
        box = self._box(key)
        box.expiry, box.used = expiry, int(self.clock())

    def sweep(self) -> SweepResult:
        now = int(self.clock())
        gone: list[str] = []
        for name, box in list(self._boxes.items()):
            over = 1 <= box.expiry.at < now or 1 <= box.expiry.after_inactive < now - box.used
            if over and not box.held:
                gone.append(name)
                del self._boxes[name]
        return SweepResult(tuple(gone))

    def current(self) -> CurrentConversation:
        return self._current

    def switch(self, name: str) -> CurrentConversation:
        check_conversation_name(name)
        if name != self._current.implied:
            self._current = CurrentConversation(name, self._current.implied)
        return self._current

    def leave(self, name: str) -> CurrentConversation:
        implied, previous = self._current
        if implied == name:
            self._current = CurrentConversation(previous) if previous in self._boxes else CurrentConversation()
        elif previous == name:
            self._current = CurrentConversation(implied)
        return self._current

    def send(self, message: InboxMessage) -> InboxMessage:
        name = self.resolve_name(message.to)
        if name not in self._boxes:
            self.create(name)
        whole = message._replace(id=message.id or new_id(), timestamp=message.timestamp or int(self.clock()), to=name)
        self._boxes[name].inbox.append(whole)
        return whole

    def peek(self, name: str) -> tuple[InboxMessage, ...]:
        name = self.resolve_name(name)
        return tuple(self._boxes[name].inbox) if name in self._boxes else ()

    def collect(self, name: str) -> InboxContents:
        return InboxContents(self.peek(name))

    def remove(self, name: str, messages: Sequence[InboxMessage]) -> None:
        box = self._box(name)
        box.inbox = [message for message in box.inbox if message not in messages]

    def _box(self, key: str) -> Box:
        check_conversation_name(key)
        for box in self._boxes.values():
            if key in (box.meta.name, box.meta.id):
                return box
        raise NotFound(f"there is no conversation '{key}'")

    def _free(self, key: str, wait: float = 0.0) -> Box:
        box, until = self._box(key), time.monotonic() + wait
        while box.held:
            if time.monotonic() >= until:
                raise ConversationLocked(f"the conversation '{key}' is in use", self.holder(key))
            time.sleep(0.005)
        return box
