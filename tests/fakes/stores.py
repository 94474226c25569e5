"""Stores with the settings of a test, a clock, messages, and threads to use them."""

import resource
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.open_conversation import OpenConversation
from marid.core.conversation.entry import MESSAGE, USER, Entry
from marid.core.conversation.records import StorageSettings


class TunedConversations(FileConversations):
    """Opens conversations with the storage settings of a test."""

    def __init__(self, home: str, storage: StorageSettings, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(home, clock=clock)
        self._tuned = storage

    def open(
        self, key: str, storage: StorageSettings | None = None, *, wait: float = 0.0, create: bool = False
    ) -> OpenConversation:
        return super().open(key, self._tuned, wait=wait, create=create)


class Clock:
    """A clock that the test sets."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def user_message(text: str = "x", **fields: str) -> Entry:
    """A message of the user to conversation `c`."""
    return Entry(entry_type=MESSAGE, content=text, sender="user", to="c", role=USER)._replace(**fields)


@contextmanager
def file_size_limit(most: int) -> Generator[None]:
    """Let no file of this process grow beyond `most` bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def run_while(work: Callable[[], object], *others: Callable[[], object]) -> None:
    """Run `work`, and each of `others` again and again in a thread of its own until it is done. Raises as they do."""
    done = Event()

    def run() -> None:
        try:
            work()
        finally:
            done.set()

    def repeat(other: Callable[[], object]) -> None:
        while not done.is_set():
            other()

    run_in_threads(run, *(partial(repeat, other) for other in others))


def run_in_threads(*works: Callable[[], object]) -> None:
    """Run all at once and wait for them. Raises the first error of any."""
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (raised below)
            errors.append(error)

    threads = [Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
