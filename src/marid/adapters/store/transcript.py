"""A conversation that is read: each method looks at the files as they are then."""

import os
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager, suppress

from marid.adapters.store import history, journal, meta, older
from marid.adapters.store.files import read_text, told
from marid.adapters.store.history import History
from marid.adapters.store.layout import Place
from marid.core.conversation import Meta, Storage
from marid.core.entry import ANCHORS, CONTEXT_CREATED, SYSTEM, Entry
from marid.core.errors import NotFound

_PAUSE = 0.02


class StoredTranscript:
    """As in the port."""

    def __init__(self, place: Place, storage: Storage) -> None:
        self._place = place
        self._storage = storage
        self._problems: dict[str, None] = {}

    def meta(self) -> Meta:
        """As in the port."""
        with told(f"reading '{self._place.meta}'"):
            known = meta.load(self._place)
            self._is_there()
            return known

    def sequence(self) -> int:
        """As in the port."""
        with self._reading():
            return history.last(self._history())

    def window(self) -> tuple[Entry, ...]:
        """As in the port."""
        with self._reading():
            known, own = self.meta(), history.window(self._history())
            foreign = None if known.id else older.old_window(self._place)
            return tuple(begun(own if older.is_shown(foreign, own) else foreign or [], known))

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        """As in the port."""
        with self._reading():
            yield from history.entries(self._history(), after, types)

    def find(self, key: str) -> Entry | None:
        """As in the port."""
        with self._reading():
            return history.find(self._history(), key)

    def follow(self, after: int, wait: float = 0.0) -> tuple[Entry, ...]:
        """As in the port; it looks at the file's length first, since most looks find nothing."""
        return self._await(self._shape, after, time.monotonic() + wait)

    def search(self, query: str, *, whole: bool = False) -> Iterator[Entry]:
        """As in the port."""
        with self._reading():
            yield from history.search(self._history(), query, whole_words=whole)

    def note(self, name: str) -> str:
        """As in the port."""
        path = self._place.note(name)
        with told(f"reading '{path}'"):
            text = read_text(path)
            self._is_there()
            return text

    def problems(self) -> tuple[str, ...]:
        """As in the port."""
        return tuple(self._problems)

    def _history(self) -> History:
        found = history.take(self._place, self._storage, self._meet)
        self._is_there()
        return found

    def _meet(self, problem: str) -> None:
        """A person should know of it, once."""
        self._problems[problem] = None

    def _is_there(self) -> None:
        """Asked after a look: what is not there looks empty. Raises: NotFound."""
        if not os.path.lexists(self._place.folder):
            raise NotFound(f"there is no conversation '{self._place.name}' any more")

    @contextmanager
    def _reading(self) -> Generator[None]:
        with told(f"reading the conversation '{self._place.name}'"):
            try:
                yield
            except FileNotFoundError:
                self._is_there()
                raise

    def _shape(self) -> object:
        with suppress(OSError):
            return journal.shape(self._place.active)
        return None

    def _await(self, shape: Callable[[], object], after: int, until: float) -> tuple[Entry, ...]:
        while True:
            before = shape()
            found = tuple(self.entries(after=after))
            while not found and time.monotonic() < until and shape() == before:
                time.sleep(_PAUSE)
            if found or time.monotonic() >= until:
                return found


def begun(window: list[Entry], known: Meta) -> list[Entry]:
    """The window; one that has no anchor yet gets one that says when the conversation began."""
    if window and window[0].entry_type in ANCHORS:
        return window
    return [creation(known), *window]


def creation(known: Meta) -> Entry:
    """The anchor that every conversation begins with."""
    return Entry(
        entry_type=CONTEXT_CREATED,
        content="conversation created",
        sender=SYSTEM,
        to=known.name,
        role=SYSTEM,
        id=f"{known.id}-created" if known.id else "",
        time_ms=known.created_ms,
    )
