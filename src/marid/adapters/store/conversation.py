"""A conversation that is held: what is appended is on the disk before anybody is told so."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from threading import RLock
from typing import Self

from marid.adapters.store import history, meta, partitions
from marid.adapters.store.active import Active, first_number
from marid.adapters.store.commits import Commits, Waiter
from marid.adapters.store.entries import encode, lines, numbered, unnumbered
from marid.adapters.store.files import remove, told, unavailable, write_whole
from marid.adapters.store.history import KEPT, KEPT_SINCE, History
from marid.adapters.store.layout import Place
from marid.adapters.store.lease import Lease
from marid.adapters.store.manifest import Manifest
from marid.adapters.store.transcript import StoredTranscript, begun
from marid.adapters.store.window import Window
from marid.core.conversation import Archived, Corrupt, Meta, Moved, Storage
from marid.core.entry import ANCHORS, ARCHIVAL, NEVER_IN_WINDOW, SYSTEM, SYSTEM_PROMPT_CHANGED, Entry
from marid.core.errors import BadInput, MaridError, Unavailable
from marid.workspace.private import private_folder

_SPECIAL = ANCHORS | NEVER_IN_WINDOW
_ID, _SEQUENCE, _TIME = (Entry._fields.index(name) for name in ("id", "sequence", "time_ms"))
_PROMPT_SEEN = "system_prompt_md_mtime"


class _Wish(Waiter):
    """What one caller wants appended, encoded as far as it can be, and what became of it."""

    def __init__(self, entries: Sequence[Entry], expected: int | None, now_ms: int, keys: Iterator[int]) -> None:
        self.expected = expected
        self.stored: list[tuple[Entry, bytes]] = []
        self.done = False
        self.error: MaridError | None = None
        self._made: list[tuple[list[object], bytes]] = []
        for entry in entries:
            fields = list[object](entry)
            fields[_ID] = entry.id or f"{now_ms:012x}{next(keys):020x}"
            fields[_TIME] = entry.time_ms or now_ms
            self._made.append((fields, unnumbered(Entry._make(fields))))

    def number(self, last: int) -> int:
        """Make the lines as they will be stored after that number: the number of the last. Raises: Moved."""
        if self.expected is not None and self.expected != last:
            raise Moved(f"the conversation is at entry {last}, not at {self.expected}", last)
        left = len(self._made)
        for fields, line in self._made:
            last, left = last + 1, left - 1
            fields[_SEQUENCE] = last
            self.stored.append((Entry._make(fields), numbered(line, last, left)))
        return last

    def shown(self) -> bytes:
        """The lines as they stand in a window, which knows no groups."""
        return self.stored[0][1] if len(self.stored) == 1 else b"".join(encode(entry) for entry, _ in self.stored)


class StoredConversation(StoredTranscript):
    """As in the port. Made with the lease in hand; it looks for what a crash has left and makes it whole.

    The window's file is left alone until `begin`: that of another program may hold what is nowhere else.
    """

    def __init__(
        self,
        place: Place,
        storage: Storage,
        lease: Lease,
        clock: Callable[[], float] = time.time,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(place, storage)
        self._on_close = on_close
        self._lease = lease
        self._clock = clock
        self._lock = RLock()
        self._commits = Commits(self._commit)
        # Chance only once: whoever asks the system for more lets all other threads go first.
        self._keys = count(int.from_bytes(os.urandom(9), "big"))
        self._meta = meta.load(place)
        self._manifest = Manifest()
        self._active = Active(place, storage)
        self._stale = True
        self._closed = False
        self._window = Window(place, ())
        try:
            self._window.replace(begun(self._made_whole(), self._meta))
        except BaseException:
            self._active.let_go()
            raise

    def begin(self) -> None:
        """All that there is stands in the transcript: show the window to others."""
        with self._lock:
            self._lease.check()
            self._window.begin()

    def shown(self) -> tuple[Entry, ...]:
        """The window, whether or not its file is up to date."""
        with self._lock:
            return tuple(self._window.entries)

    def meta(self) -> Meta:
        """As in the port."""
        with self._lock:
            self._lease.check()
            return self._meta

    def token(self) -> int:
        """As in the port."""
        self._lease.check()
        return self._lease.token

    def sequence(self) -> int:
        """As in the port."""
        self._lease.check()
        return self._active.tally.last

    def window(self) -> tuple[Entry, ...]:
        """As in the port."""
        with self._lock:
            self._lease.check()
            self._window.flush()
            return tuple(self._window.entries)

    def note(self, name: str) -> str:
        """As in the port."""
        self._lease.check()
        return super().note(name)

    def problems(self) -> tuple[str, ...]:
        """As in the port."""
        self._lease.check()
        return super().problems()

    def append(self, entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        """As in the port."""
        # What a caller can do for itself it does before the others wait for it.
        wish = _Wish(entries, expected, round(self._clock() * 1000), self._keys)
        self._commits.submit(wish)
        if wish.error is not None:
            raise wish.error
        if not wish.done:
            raise Unavailable("the entry was not stored: an append beside it has failed")
        return tuple(entry for entry, _ in wish.stored)

    def anchor(self, anchor: Entry, kept: Sequence[str] = ()) -> Entry:
        """As in the port."""
        if anchor.entry_type not in ANCHORS:
            raise BadInput(f"'{anchor.entry_type}' is no anchor")
        there = {entry.id: entry.sequence for entry in self.window()}
        if strange := [key for key in kept if key not in there]:
            raise BadInput(f"the entry '{strange[0]}' is not in the window")
        if kept:
            words = {**anchor.metadata, KEPT: list(kept), KEPT_SINCE: min(there[key] for key in kept)}
            anchor = anchor._replace(metadata=words)
        return self.append([anchor])[0]

    def clear(self) -> Entry | None:
        """As in the port."""
        if all(entry.entry_type in ANCHORS for entry in self.window()):
            return None
        to = self._place.name
        return self.anchor(Entry(entry_type=ARCHIVAL, content="history archived", sender=SYSTEM, to=to, role=SYSTEM))

    def change(self, how: Callable[[Meta], Meta]) -> Meta:
        """As in the port."""
        with self._lock:
            self._lease.check()
            old = self._meta
            new = how(old)
            new = new._replace(id=old.id, name=old.name, extra={**old.extra, **new.extra})
            if new != old:
                with told(f"writing '{self._place.meta}'"):
                    meta.save(self._place, new)
            self._meta = new
            return new

    def write_note(self, name: str, text: str) -> None:
        """As in the port."""
        path = self._place.note(name)
        with self._lock:
            self._may_write()
            with told(f"writing '{path}'"):
                private_folder(os.path.dirname(path))
                if text:
                    write_whole(path, text.encode("utf-8", "replace"))
                else:
                    remove(path)
        if name == "system_prompt":
            self.record_prompt(text)

    def identify(self, key: str, created_ms: int) -> None:
        """Give a conversation of another program its id."""
        with self._lock, told(f"writing '{self._place.meta}'"):
            self._lease.check()
            self._meta = self._meta._replace(id=key, created_ms=created_ms)
            meta.save(self._place, self._meta)
            first, *rest = self._window.entries
            self._window.replace(begun(rest if not first.sequence else [first, *rest], self._meta))

    def record_prompt(self, text: str) -> None:
        """Put the system prompt's new text into the transcript, and remember which version of the file that was."""
        entry = Entry(entry_type=SYSTEM_PROMPT_CHANGED, content=text, sender=SYSTEM, to=self._place.name, role=SYSTEM)
        self.append([entry])
        self.change(lambda known: known._replace(extra={**known.extra, _PROMPT_SEEN: self._prompt_time()}))

    def notice_prompt(self) -> None:
        """Record the system prompt if somebody has edited its file since."""
        now = self._prompt_time()
        if now is not None and now != self._meta.extra.get(_PROMPT_SEEN) and not self._meta.archived_ms:
            self.record_prompt(self.note("system_prompt"))

    def close(self) -> None:
        """As in the port."""
        if not self._lease.is_ours:
            # A fork: the lock may be held for ever by a thread that is not here, and the files are its parent's.
            self.let_go()
            return
        with self._lock:
            if self._closed:
                return
            try:
                self._lease.check()
            except Unavailable:
                self.let_go()
                return
            spoken = self._window.entries[-1].time_ms
            with suppress(MaridError):
                self.change(lambda known: known._replace(last_message_ms=max(spoken, known.last_message_ms)))
            self._active.close()
            self._window.close()
            self._on_close()
            self.let_go()

    def let_go(self) -> None:
        """Close without writing anything."""
        self._closed = True
        self._active.let_go()
        self._window.let_go()
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _history(self) -> History:
        with self._lock:
            self._lease.check()
            return History(self._place, self._manifest.rows, self._active.read(), self._meet)

    def _shape(self) -> object:
        return self._active.tally.last

    def _prompt_time(self) -> int | None:
        try:
            return int(os.stat(self._place.note("system_prompt")).st_mtime)
        except OSError:
            return None

    def _may_write(self) -> None:
        self._lease.check()
        if self._meta.archived_ms:
            raise Archived(self._place.name)

    def _made_whole(self) -> list[Entry]:
        """Repair, count, and write down what has changed: the entries of the window. Raises: OSError."""
        # Whoever lost the lease in this very moment must not repair what another one is writing.
        self._lease.check()
        first = first_number(self._place, self._active.read())
        self._manifest, right = partitions.survey(self._place, self._storage, first)
        if not right or not partitions.is_filtered(self._place, self._storage, self._manifest):
            self._manifest = partitions.settle(self._place, self._storage, self._manifest)
        sealed = self._manifest.rows[-1]["last_sequence"] if self._manifest.rows else 0
        data = self._active.take_stock(sealed)
        found = [*partitions.problems(self._place, self._manifest), *self._active.problems]
        if self._active.torn:
            torn = f"{self._active.torn} bytes of an interrupted write were put aside"
            found.append(f"{torn} in '{self._place.active}.torn'")
        self._problems |= dict.fromkeys(found)
        self._stale = False
        return self._since_anchor(data)

    def _since_anchor(self, data: bytes) -> list[Entry]:
        tally = self._active.tally
        whole = History(self._place, self._manifest.rows, data, self._meet)
        if tally.anchor >= 0:
            return history.since(whole, [line.entry for line in lines(data, start=tally.anchor, before=tally.before)])
        return history.window(whole)

    def _commit(self, wishes: Sequence[_Wish]) -> None:
        with self._lock:
            try:
                self._may_write()
                if self._stale or self._active.is_changed():
                    self._look_again()
                self._store(wishes)
            except MaridError as error:
                _refuse(wishes, error)
            except OSError as error:
                told = unavailable(f"storing in '{self._place.name}'", error)
                told.__cause__ = error  # it is raised elsewhere, by whoever waits
                _refuse(wishes, told)

    def _look_again(self) -> None:
        """Begin with what is there now. Raises: OSError; Corrupt when that is less than it was."""
        known, self._stale = self._active.tally, True
        self._active.let_go()
        self._active = Active(self._place, self._storage)
        self._active.tally = known
        self._window.replace(begun(self._made_whole(), self._meta))
        if self._active.tally.last < known.last:
            raise Corrupt(f"'{self._place.active}' has lost entries while it was in use: nothing was stored now")

    def _store(self, wishes: Sequence[_Wish]) -> None:
        last, ready = self._active.tally.last, list[_Wish]()
        for wish in wishes:
            try:
                last = wish.number(last)
                ready.append(wish)
            except MaridError as error:
                wish.error = error
        stored = [pair for wish in ready for pair in wish.stored]
        if stored:
            self._active.append(stored)
        for wish in ready:
            wish.done = True
        if stored:
            self._show(ready, stored)
            if self._active.is_full(self._clock()):
                self._rotate()

    def _show(self, ready: Sequence[_Wish], stored: Sequence[tuple[Entry, bytes]]) -> None:
        """Bring the window up to date."""
        entries = [entry for entry, _ in stored]
        types = [entry.entry_type for entry in entries]
        if _SPECIAL.isdisjoint(types):
            self._window.add(entries, b"".join([wish.shown() for wish in ready]))
        elif ANCHORS.isdisjoint(types):
            shown = [entry for entry in entries if entry.entry_type not in NEVER_IN_WINDOW]
            self._window.add(shown, b"".join(map(encode, shown)))
        else:
            self._window.replace(self._after_anchor([*self._window.entries, *entries]))

    def _after_anchor(self, entries: list[Entry]) -> list[Entry]:
        """The window that begins with the last anchor among these; what it kept is usually among them as well."""
        at = max(index for index, entry in enumerate(entries) if entry.entry_type in ANCHORS)
        known = {entry.id: entry for entry in entries[:at]}
        kept = history.kept_ids(entries[at])
        later = [entry for entry in entries[at + 1 :] if entry.entry_type not in NEVER_IN_WINDOW]
        if all(key in known for key in kept):
            return [entries[at], *(known[key] for key in kept), *later]
        return history.since(History(self._place, self._manifest.rows, self._active.read()), entries[at:])

    def _rotate(self) -> None:
        """Begin a new partition. What goes wrong here loses nothing: all is looked through before the next append."""
        self._stale = True
        try:
            self._active.forget_note()
            self._active.trim()
            self._manifest = partitions.seal(self._place, self._storage, self._manifest, self._active.read())
            self._active.renew()
        except OSError as error:
            self._meet(f"a new partition could not be begun: {error.strerror}")
            return
        self._stale = False


def _refuse(wishes: Sequence[_Wish], error: MaridError) -> None:
    for wish in wishes:
        if not wish.done and wish.error is None:
            wish.error = error
