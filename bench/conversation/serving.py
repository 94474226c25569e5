"""A scripted model server in a process of its own, so that its work is not counted as ours."""

import multiprocessing
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from marid.testing import ModelServer, always, say


def serve(pieces: int, pipe: Connection) -> None:
    """Play the same answer for ever, until the pipe is closed."""
    with ModelServer([always(say(*(f"word{number} " for number in range(pieces))))]) as server:
        pipe.send((server.openai, server.anthropic, server.google))
        pipe.recv()


@contextmanager
def serving(pieces: int) -> Generator[tuple[str, str, str]]:
    """The addresses of a server whose answers come in so many pieces, in its three dialects."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(pieces, theirs), daemon=True)
    process.start()
    theirs.close()  # so that nobody waits for a process that did not start
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join(10)
