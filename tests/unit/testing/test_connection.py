"""One connection."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from marid.testing.connection import Connection, Ending
from marid.testing.faults import Gate
from marid.testing.response_steps import Drop, Pause, ResponseStep, Send, WaitForGate


@contextmanager
def connected() -> Generator[tuple[Connection, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), 5)
        accepted, _ = listener.accept()
    wire = Connection(accepted)
    with client:
        yield wire, client
    wire.close()


@contextmanager
def performing(wire: Connection, *doings: ResponseStep) -> Generator[list[Ending]]:
    endings: list[Ending] = []
    worker = threading.Thread(target=lambda: endings.append(wire.perform(doings)))
    worker.start()
    yield endings
    worker.join(30)


def test_what_is_sent_arrives_in_order() -> None:
    with connected() as (wire, client):
        assert wire.perform([Send(data=b"a"), Pause(seconds=0.0), Pause(seconds=0.001), Send(data=b"b")]) == "whole"
        wire.close()
        assert client.makefile("rb").read() == b"ab"


def test_a_gate_holds_the_rest_back_until_it_is_released() -> None:
    gate = Gate()
    with (
        connected() as (wire, client),
        performing(wire, Send(data=b"a"), WaitForGate(gate=gate), Send(data=b"b")) as endings,
    ):
        assert gate.wait(30)
        assert client.recv(9) == b"a"
        assert endings == []
        gate.release()
        assert client.recv(9) == b"b"
    assert endings == ["whole"]


def test_a_client_that_leaves_ends_the_waiting() -> None:
    gate = Gate()
    with connected() as (wire, client), performing(wire, WaitForGate(gate=gate)) as endings:
        assert gate.wait(30)
        client.close()
    assert endings == ["left"]


@pytest.mark.parametrize("act", [WaitForGate(gate=Gate()), Pause(seconds=60.0)])
def test_to_stop_ends_any_waiting_even_if_the_client_sends_more(act: ResponseStep) -> None:
    ready = Gate()
    with connected() as (wire, client), performing(wire, WaitForGate(gate=ready), act) as endings:
        client.sendall(b"more")
        assert ready.wait(30)
        ready.release()
        wire.stop()
    assert endings == ["stopped"]


def test_a_drop_ends_the_connection_politely_or_not() -> None:
    with connected() as (wire, client):
        assert wire.perform([Send(data=b"a"), Drop(), Send(data=b"never")]) == "cut"
        wire.close()
        assert client.makefile("rb").read() == b"a"
    with connected() as (wire, client):
        assert wire.perform([Drop(reset=True)]) == "cut"
        wire.close()
        with pytest.raises(ConnectionResetError):
            client.recv(9)


def test_a_bell_that_rang_for_nothing_does_not_open_a_gate() -> None:
    first, second = Gate(), Gate()
    with connected() as (wire, _), performing(wire, WaitForGate(gate=first), WaitForGate(gate=second)) as endings:
        assert first.wait(30)
        first.release()
        first.release()
        assert second.wait(30)
        assert endings == []
        second.release()
    assert endings == ["whole"]


def test_a_connection_that_was_reset_has_no_next_request() -> None:
    with connected() as (wire, client):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        client.close()
        assert wire.receive() is None


def test_a_stopped_connection_may_be_stopped_again() -> None:
    with connected() as (wire, _):
        wire.stop()
        wire.close()
        wire.stop()
        assert wire.perform([Send(data=b"a")]) == "stopped"
