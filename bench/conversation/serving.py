"""A scripted model server in a separate process, so that its work is not measured."""

import multiprocessing
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from marid.testing import ModelServer, always, say


def serve(pieces: int, pipe: Connection) -> None:
    """Give the same answer until the pipe is closed."""
    with ModelServer([always(say(*(f"word{number} " for number in range(pieces))))]) as server:
        pipe.send((server.openai, server.anthropic, server.google))
        pipe.recv()


@contextmanager
def serving(pieces: int) -> Generator[tuple[str, str, str]]:
    """The three base URLs of a server whose answers have `pieces` pieces."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(pieces, theirs), daemon=True)
    process.start()
    theirs.close()  # so that receiving fails if the process does not start
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join(10)
