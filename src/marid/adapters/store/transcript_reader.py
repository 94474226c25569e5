"""A conversation that is read: each method looks at the files as they are then."""

import os
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager

from marid.adapters.store import legacy, meta, snapshot
from marid.adapters.store.atomic_files import disk_errors, read_text
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.snapshot import TranscriptSnapshot
from marid.core.conversation.entry import ANCHORS, CONTEXT_CREATED, SYSTEM, Entry
from marid.core.conversation.records import ConversationMeta, StorageSettings
from marid.core.errors import NotFound


class TranscriptReader:
    """As in the port."""

    def __init__(self, paths: ConversationPaths, storage: StorageSettings) -> None:
        self._paths = paths
        self._storage = storage
        self._problems: dict[str, None] = {}

    def meta(self) -> ConversationMeta:
        """As in the port."""
        with disk_errors(f"reading '{self._paths.meta}'"):
            known = meta.load(self._paths)
            self._check_exists()
            return known

    def sequence(self) -> int:
        """As in the port."""
        with self._read_errors():
            return snapshot.last_sequence(self._snapshot())

    def window(self) -> tuple[Entry, ...]:
        """As in the port."""
        with self._read_errors():
            known, own = self.meta(), snapshot.window(self._snapshot())
            foreign = None if known.id else legacy.legacy_window(self._paths)
            return tuple(with_initial_anchor(own if legacy.is_window_prefix(foreign, own) else foreign or [], known))

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        """As in the port."""
        with self._read_errors():
            yield from snapshot.entries(self._snapshot(), after, types)

    def find(self, key: str) -> Entry | None:
        """As in the port."""
        with self._read_errors():
            return snapshot.find(self._snapshot(), key)

    def search(self, query: str, *, whole_words: bool = False) -> Iterator[Entry]:
        """As in the port."""
        with self._read_errors():
            yield from snapshot.search(self._snapshot(), query, whole_words=whole_words)

    def read_note(self, name: str) -> str:
        """As in the port."""
        path = self._paths.note(name)
        with disk_errors(f"reading '{path}'"):
            text = read_text(path)
            self._check_exists()
            return text

    def problems(self) -> tuple[str, ...]:
        """As in the port."""
        return tuple(self._problems)

    def _snapshot(self) -> TranscriptSnapshot:
        found = snapshot.take_snapshot(self._paths, self._storage, self._add_problem)
        self._check_exists()
        return found

    def _add_problem(self, problem: str) -> None:
        """A person should know of it, once."""
        self._problems[problem] = None

    def _check_exists(self) -> None:
        """Asked after a look: what is not there looks empty. Raises: NotFound."""
        if not os.path.lexists(self._paths.folder):
            raise NotFound(f"there is no conversation '{self._paths.name}' any more")

    @contextmanager
    def _read_errors(self) -> Generator[None]:
        with disk_errors(f"reading the conversation '{self._paths.name}'"):
            try:
                yield
            except FileNotFoundError:
                self._check_exists()
                raise


def with_initial_anchor(window: list[Entry], known: ConversationMeta) -> list[Entry]:
    """The window; one that has no anchor yet gets one that says when the conversation began."""
    if window and window[0].entry_type in ANCHORS:
        return window
    return [creation_anchor(known), *window]


def creation_anchor(known: ConversationMeta) -> Entry:
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
