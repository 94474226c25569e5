"""A conversation that is held: what is appended is on the disk before anybody is told so."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Self

from marid.adapters.store import history, meta, partitions
from marid.adapters.store.active import Active
from marid.adapters.store.commits import Commits
from marid.adapters.store.entries import encode, lines
from marid.adapters.store.files import make_folder, remove, told, unavailable, write_whole
from marid.adapters.store.history import KEPT, KEPT_SINCE, History
from marid.adapters.store.layout import Place
from marid.adapters.store.lease import Lease
from marid.adapters.store.manifest import Manifest
from marid.adapters.store.transcript import StoredTranscript, begun
from marid.adapters.store.window import Window
from marid.core.conversation import Meta, Moved, Storage
from marid.core.entry import ANCHORS, ARCHIVAL, NEVER_IN_WINDOW, SYSTEM, SYSTEM_PROMPT_CHANGED, Entry
from marid.core.errors import BadInput, MaridError, Refused, Unavailable

_SPECIAL = ANCHORS | NEVER_IN_WINDOW
_PROMPT_SEEN = "system_prompt_md_mtime"


class _Wish:
    """What one caller wants appended, and what became of it."""

    def __init__(self, entries: tuple[Entry, ...], expected: int | None) -> None:
        self.entries = entries
        self.expected = expected
        self.done: tuple[Entry, ...] | None = None
        self.error: MaridError | None = None


class StoredConversation(StoredTranscript):
    """As in the port. Made with the lease in hand; it looks for what a crash has left and makes it whole."""

    def __init__(self, place: Place, storage: Storage, lease: Lease, clock: Callable[[], float] = time.time) -> None:
        super().__init__(place, storage)
        self._lease = lease
        self._clock = clock
        self._lock = RLock()
        self._commits = Commits(self._commit)
        self._meta = meta.load(place)
        self._manifest = Manifest()
        self._active = Active(place, storage)
        self._stale = True
        self._closed = False
        self._window = Window(place, begun(self._made_whole(), self._meta))

    def meta(self) -> Meta:
        """As in the port."""
        with self._lock:
            return self._meta

    def token(self) -> int:
        """As in the port."""
        return self._lease.token

    def sequence(self) -> int:
        """As in the port."""
        return self._active.tally.last

    def window(self) -> tuple[Entry, ...]:
        """As in the port."""
        with self._lock:
            self._window.flush()
            return tuple(self._window.entries)

    def append(self, entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        """As in the port."""
        wish = _Wish(tuple(entries), expected)
        self._commits.submit(wish)
        if wish.error is not None:
            raise wish.error
        if wish.done is None:
            raise Unavailable("the entry was not stored: an append beside it has failed")
        return wish.done

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
                make_folder(os.path.dirname(path))
                if text:
                    write_whole(path, text.encode("utf-8", "replace"))
                else:
                    remove(path)
        if name == "system_prompt":
            self.record_prompt(text)

    def identify(self, key: str, created_ms: int) -> None:
        """Give a conversation of another program its id."""
        with self._lock, told(f"writing '{self._place.meta}'"):
            self._meta = self._meta._replace(id=key, created_ms=created_ms)
            meta.save(self._place, self._meta)

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
        with self._lock:
            if self._closed:
                return
            self._closed = True
            spoken = self._window.entries[-1].time_ms
            with suppress(MaridError):
                self.change(lambda known: known._replace(last_message_ms=max(spoken, known.last_message_ms)))
            self._active.close()
            self._window.close()
            self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _history(self) -> History:
        with self._lock:
            self._lease.check()
            return History(self._place, self._manifest.rows, self._active.read())

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
            raise Refused(f"the conversation '{self._place.name}' is archived; restore it first")

    def _made_whole(self) -> list[Entry]:
        """Repair, count, and write down what has changed: the entries of the window. Raises: OSError."""
        first = history.first_number(self._active.read()[:100_000])
        self._manifest, right = partitions.survey(self._place, self._storage, first)
        if not right:
            self._manifest = partitions.settle(self._place, self._storage, self._manifest)
        sealed = self._manifest.rows[-1]["last_sequence"] if self._manifest.rows else 0
        data = self._active.take_stock(sealed)
        self._problems += self._active.problems
        if self._active.torn:
            torn = f"{self._active.torn} bytes of an interrupted write were put aside"
            self._problems.append(f"{torn} in '{self._place.active}.torn'")
        self._stale = False
        return self._since_anchor(data)

    def _since_anchor(self, data: bytes) -> list[Entry]:
        tally = self._active.tally
        whole = History(self._place, self._manifest.rows, data)
        if tally.anchor >= 0:
            return history.since(whole, [line.entry for line in lines(data, start=tally.anchor, before=tally.before)])
        return history.window(whole)

    def _commit(self, wishes: Sequence[_Wish]) -> None:
        with self._lock:
            try:
                self._may_write()
                if self._stale:
                    self._active.close()
                    self._active = Active(self._place, self._storage)
                    self._window.replace(begun(self._made_whole(), self._meta))
                self._store([wish for wish in wishes if wish.entries or self._nothing(wish)])
            except MaridError as error:
                _refuse(wishes, error)
            except OSError as error:
                _refuse(wishes, unavailable(f"storing in '{self._place.name}'", error))

    def _nothing(self, wish: _Wish) -> bool:
        wish.done = ()
        return False

    def _store(self, wishes: Sequence[_Wish]) -> None:
        last, ready = self._active.tally.last, list[tuple[_Wish, list[tuple[Entry, bytes]]]]()
        for wish in wishes:
            try:
                made = self._numbered(wish, last)
            except MaridError as error:
                wish.error = error
                continue
            ready.append((wish, made))
            last = made[-1][0].sequence
        stored = [pair for _, made in ready for pair in made]
        if not stored:
            return
        self._active.append(stored)
        for wish, made in ready:
            wish.done = tuple(entry for entry, _ in made)
        self._show(stored)
        if self._active.is_full(self._clock()):
            self._rotate()

    def _numbered(self, wish: _Wish, last: int) -> list[tuple[Entry, bytes]]:
        """The entries as they will be stored. Raises: Moved; BadInput."""
        if wish.expected is not None and wish.expected != last:
            raise Moved(f"the conversation is at entry {last}, not at {wish.expected}", last)
        now, made = round(self._clock() * 1000), list[tuple[Entry, bytes]]()
        for left in range(len(wish.entries) - 1, -1, -1):
            entry, last = wish.entries[-1 - left], last + 1
            key = entry.id or f"{now:012x}{os.urandom(10).hex()}"
            entry = Entry._make((*entry[:5], key, last, entry.time_ms or now, *entry[8:]))
            made.append((entry, encode(entry, left)))
        return made

    def _show(self, stored: Sequence[tuple[Entry, bytes]]) -> None:
        """Bring the window up to date."""
        if len(stored) == 1 and stored[0][0].entry_type not in _SPECIAL:
            self._window.add([stored[0][0]], stored[0][1])
            return
        entries = [entry for entry, _ in stored]
        if any(entry.entry_type in ANCHORS for entry in entries):
            self._window.replace(self._after_anchor([*self._window.entries, *entries]))
            return
        shown = [entry for entry in entries if entry.entry_type not in NEVER_IN_WINDOW]
        self._window.add(shown, b"".join(map(encode, shown)))

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
            self._manifest = partitions.seal(self._place, self._storage, self._manifest, self._active.read())
            self._active.renew()
        except OSError as error:
            self._problems.append(f"a new partition could not be begun: {error.strerror}")
            return
        self._stale = False


def _refuse(wishes: Sequence[_Wish], error: MaridError) -> None:
    for wish in wishes:
        if wish.done is None and wish.error is None:
            wish.error = error
