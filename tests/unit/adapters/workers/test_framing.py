import os
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import pytest

from marid.adapters.workers.framing import receive, send


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    source, sink = os.pipe()
    yield source, sink
    for descriptor in (source, sink):
        with suppress(OSError):
            os.close(descriptor)


@pytest.mark.parametrize("message", [b"", b"x", bytes(range(256))])
def test_a_message_arrives(pipe: tuple[int, int], message: bytes) -> None:
    source, sink = pipe
    send(sink, message)
    send(sink, b"next")
    assert [receive(source, max_size=1000), receive(source, max_size=1000)] == [message, b"next"]


def test_a_message_larger_than_the_pipe_arrives(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    message = os.urandom(3_000_000)
    writer = Thread(target=send, args=(sink, message))
    writer.start()
    assert receive(source, max_size=1 << 30) == message
    writer.join()


@pytest.mark.parametrize("piece", [b"", b"\0\0", b"\0\0\0\5", b"\0\0\0\5four"])
def test_a_pipe_that_closes_gives_none(pipe: tuple[int, int], piece: bytes) -> None:
    source, sink = pipe
    os.write(sink, piece)
    os.close(sink)
    assert receive(source, max_size=1000) is None


def test_a_message_that_is_too_long_is_not_waited_for(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.write(sink, b"\xff\xff\xff\xff")
    assert receive(source, max_size=1000) is None


@pytest.mark.parametrize("piece", [b"", b"\0\0\0\5four"])
def test_a_message_that_does_not_come_in_time_is_given_up(pipe: tuple[int, int], piece: bytes) -> None:
    source, sink = pipe
    os.write(sink, piece)
    with pytest.raises(TimeoutError):
        receive(source, max_size=1000, deadline=time.monotonic() + 0.01)


def test_a_message_that_is_not_taken_in_time_is_given_up(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    with pytest.raises(TimeoutError):
        send(pipe[1], bytes(1_000_000), deadline=time.monotonic() + 0.01)


def test_what_is_already_there_is_taken_even_after_the_deadline(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    send(sink, b"x")
    assert receive(source, max_size=1000, deadline=time.monotonic() - 1) == b"x"


def test_writing_without_a_reader_is_an_os_error(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.close(source)
    with pytest.raises(BrokenPipeError):
        send(sink, b"x")
