"""A conversation that is read: each method reads the files as they are then."""

import os
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager

from marid.adapters.store import legacy, meta
from marid.adapters.store.files import disk_errors, read_bytes
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.snapshot import TranscriptSnapshot, take_snapshot
from marid.core.conversation.entry import ANCHORS, CONTEXT_CREATED, SYSTEM, Entry
from marid.core.conversation.records import ConversationMeta, StorageSettings
from marid.core.errors import NotFound


class TranscriptReader:
    """The port ConversationReader."""

    def __init__(self, paths: ConversationPaths, storage: StorageSettings) -> None:
        self._paths = paths
        self._storage = storage
        self._problems: dict[str, None] = {}

    def meta(self) -> ConversationMeta:
        with disk_errors(f"reading '{self._paths.meta}'"):
            known = meta.load(self._paths)
            self._check_exists()
            return known

    def sequence(self) -> int:
        with self._read_errors():
            return self._snapshot().last_sequence()

    def window(self) -> tuple[Entry, ...]:
        with self._read_errors():
            known, own = self.meta(), self._snapshot().window()
            foreign = None if known.id else legacy.legacy_window(self._paths)
            return tuple(with_initial_anchor(own if legacy.is_window_prefix(foreign, own) else foreign or [], known))

    def entries(self, *, after: int = 0, types: Collection[str] = ()) -> Iterator[Entry]:
        with self._read_errors():
            yield from self._snapshot().entries(after, types)

    def find(self, key: str) -> Entry | None:
        with self._read_errors():
            return self._snapshot().find(key)

    def search(self, query: str, *, whole_words: bool = False) -> Iterator[Entry]:
        with self._read_errors():
            yield from self._snapshot().search(query, whole_words=whole_words)

    def read_note(self, name: str) -> str:
        path = self._paths.note(name)
        with disk_errors(f"reading '{path}'"):
            text = (read_bytes(path) or b"").decode("utf-8", "replace")
            self._check_exists()
            return text

    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems)

    def _snapshot(self) -> TranscriptSnapshot:
        found = take_snapshot(self._paths, self._storage, self._add_problem)
        self._check_exists()
        return found

    def _add_problem(self, problem: str) -> None:
        self._problems[problem] = None

    def _check_exists(self) -> None:
        """Call it after a read: a conversation that is gone looks empty. Raises: NotFound."""
        if not os.path.lexists(self._paths.folder):
            raise NotFound(f"the conversation '{self._paths.name}' no longer exists")

    @contextmanager
    def _read_errors(self) -> Generator[None]:
        with disk_errors(f"reading the conversation '{self._paths.name}'"):
            try:
                yield
            except FileNotFoundError:
                self._check_exists()
                raise


def with_initial_anchor(window: list[Entry], known: ConversationMeta) -> list[Entry]:
    """The window, with the creation anchor if it has no anchor yet."""
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
