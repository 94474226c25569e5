"""One connection, and the requests on it."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO

import pytest

from marid.core.errors import BadInput
from marid.testing.connection import Connection, Ending, read_raw_request
from marid.testing.faults import Gate
from marid.testing.request import RawRequest
from marid.testing.response_steps import Drop, ResponseStep


@contextmanager
def connected() -> Generator[tuple[Connection, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), 5)
        accepted, _ = listener.accept()
    connection = Connection(accepted)
    with client:
        yield connection, client
    connection.close()


@contextmanager
def performing(connection: Connection, *steps: ResponseStep) -> Generator[list[Ending]]:
    endings: list[Ending] = []
    worker = threading.Thread(target=lambda: endings.append(connection.perform(steps)))
    worker.start()
    yield endings
    worker.join(30)


def test_what_is_sent_arrives_in_order() -> None:
    with connected() as (connection, client):
        assert connection.perform([b"a", 0.0, 0.001, b"b"]) == "whole"
        connection.close()
        assert client.makefile("rb").read() == b"ab"


def test_a_gate_holds_the_rest_back_until_it_is_released() -> None:
    gate = Gate()
    steps = (b"a", gate, b"b")
    with connected() as (connection, client), performing(connection, *steps) as endings:
        assert gate.wait(30)
        assert client.recv(9) == b"a"
        assert endings == []
        gate.release()
        assert client.recv(9) == b"b"
    assert endings == ["whole"]


def test_a_client_that_leaves_ends_the_waiting() -> None:
    gate = Gate()
    with connected() as (connection, client), performing(connection, gate) as endings:
        assert gate.wait(30)
        client.close()
    assert endings == ["left"]


@pytest.mark.parametrize("step", [Gate(), 60.0])
def test_to_stop_ends_any_waiting_even_if_the_client_sends_more(step: ResponseStep) -> None:
    ready = Gate()
    with connected() as (connection, client), performing(connection, ready, step) as endings:
        client.sendall(b"more")
        assert ready.wait(30)
        ready.release()
        connection.stop()
    assert endings == ["stopped"]


def test_a_drop_closes_or_resets_the_connection() -> None:
    with connected() as (connection, client):
        assert connection.perform([b"a", Drop(), b"never"]) == "cut"
        connection.close()
        assert client.makefile("rb").read() == b"a"
    with connected() as (connection, client):
        assert connection.perform([Drop(reset=True)]) == "cut"
        connection.close()
        with pytest.raises(ConnectionResetError):
            client.recv(9)


def test_a_second_release_does_not_open_the_next_gate() -> None:
    first, second = Gate(), Gate()
    with connected() as (connection, _), performing(connection, first, second) as endings:
        assert first.wait(30)
        first.release()
        first.release()
        assert second.wait(30)
        assert endings == []
        second.release()
    assert endings == ["whole"]


def test_a_connection_that_was_reset_has_no_next_request() -> None:
    with connected() as (connection, client):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        client.close()
        assert connection.receive() is None


def test_a_stopped_connection_may_be_stopped_again() -> None:
    with connected() as (connection, _):
        connection.stop()
        connection.close()
        connection.stop()
        assert connection.perform([b"a"]) == "stopped"


def test_a_request_is_read_with_its_body() -> None:
    reader = BytesIO(b"POST /v1/x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n")
    headers = {"host": "a", "content-length": "3"}
    assert read_raw_request(reader) == RawRequest(method="POST", target="/v1/x?y=1", headers=headers, content=b"abc")
    assert read_raw_request(reader) == RawRequest(method="GET", target="/", headers={}, content=b"")
    assert read_raw_request(reader) is None
    assert read_raw_request(BytesIO(b"POST / HT")) is None


def test_a_body_may_come_in_chunks() -> None:
    reader = BytesIO(
        b"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
    )
    received = read_raw_request(reader)
    assert received
    assert received.content == b"abcde"
    assert reader.read() == b""


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01 hello\n",
        b"GET / SPDY/3\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
    ],
)
def test_anything_but_http_is_bad_input(data: bytes) -> None:
    with pytest.raises(BadInput):
        read_raw_request(BytesIO(data))


def test_a_gate_wakes_waiters_that_come_before_and_after_its_release() -> None:
    gate, woken = Gate(), list[str]()
    assert not gate.wait(0)
    gate.arrive(lambda: woken.append("early"))
    assert gate.wait(0)
    assert woken == []
    gate.release()
    gate.arrive(lambda: woken.append("late"))
    gate.release()
    assert woken == ["early", "late"]
    assert gate.open


def test_a_waiter_that_has_left_is_not_woken() -> None:
    gate, woken = Gate(), list[str]()

    def wake() -> None:
        woken.append("gone")

    gate.arrive(wake)
    gate.leave(wake)
    gate.release()
    assert woken == []
