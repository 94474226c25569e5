import contextlib
import threading
from collections.abc import Sequence
from ssl import SSLContext
from typing import Any

import httpcore2
import pytest
from httpcore2 import NetworkStream

from fakes.web import answer, serving
from marid.adapters.web.address_policy import AddressPolicy
from marid.adapters.web.guarded_backend import (
    GuardedBackend,
    MeteredStream,
    TransferBudget,
    connect_address,
    resolve_host,
)
from marid.core.errors import Exhausted, MaridError, NotFound, Refused, Unavailable


class Stub(NetworkStream):
    """A connection to nowhere, which says where it is connected to."""

    def __init__(self, peer: str = "8.8.8.8", data: bytes = b"") -> None:
        self.peer = peer
        self.data = data
        self.closed = False
        self.secured: list[str | None] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        assert timeout
        return self.data[:max_bytes]

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        assert timeout

    def close(self) -> None:
        self.closed = True

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        self.secured.append(server_hostname)
        return self

    def get_extra_info(self, info: str) -> Any:
        if self.peer == "gone":
            raise OSError("not connected")
        return (self.peer, 80)


class Wires:
    """A resolver and a dialler that keep what they were asked."""

    def __init__(self, *addresses: str, peer: str = "") -> None:
        self.addresses = addresses
        self.peer = peer
        self.looked_up: list[str] = []
        self.dialled: list[str] = []
        self.streams: list[Stub] = []

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(f"{host}:{port}")
        return self.addresses

    def dial(self, address: str, port: int, seconds: float) -> NetworkStream:
        assert 0 < seconds <= 5
        self.dialled.append(f"{address}:{port}")
        self.streams.append(Stub(self.peer or address))
        return self.streams[-1]

    def gate(self, seconds: float = 5.0) -> GuardedBackend:
        return GuardedBackend(AddressPolicy(), TransferBudget(timeout=seconds, max_bytes=1000), self.resolve, self.dial)


def test_a_name_is_looked_up_once_and_what_was_checked_is_dialled() -> None:
    wires = Wires("8.8.8.8", "8.8.4.4")
    stream = wires.gate().connect_tcp("example.com", 80)
    assert isinstance(stream, MeteredStream)
    assert wires.looked_up == ["example.com:80"]
    assert wires.dialled == ["8.8.8.8:80"]


def test_an_address_is_not_looked_up() -> None:
    wires = Wires()
    wires.gate().connect_tcp("8.8.8.8", 443)
    assert wires.looked_up == []
    assert wires.dialled == ["8.8.8.8:443"]


@pytest.mark.parametrize("bad", ["127.0.0.1", "::1", "10.0.0.1", "::ffff:127.0.0.1", "fe80::1%eth0", "169.254.169.254"])
def test_one_bad_answer_spoils_all(bad: str) -> None:
    wires = Wires("8.8.8.8", bad)
    with pytest.raises(Refused):
        wires.gate().connect_tcp("rebind.example", 80)
    assert wires.dialled == []


def test_a_connection_that_ends_elsewhere_is_closed() -> None:
    wires = Wires("8.8.8.8", peer="127.0.0.1")
    with pytest.raises(Refused, match="ended at another address"):
        wires.gate().connect_tcp("example.com", 80)
    assert wires.streams[0].closed


def test_a_connection_that_is_gone_at_once_is_told() -> None:
    wires = Wires("8.8.8.8", peer="gone")
    with pytest.raises(Unavailable, match="closed the connection"):
        wires.gate().connect_tcp("example.com", 80)
    assert wires.streams[0].closed


@pytest.mark.parametrize("addresses", [(), ("nonsense",)])
def test_a_host_without_an_address_is_an_error(addresses: tuple[str, ...]) -> None:
    with pytest.raises(MaridError, match=r"'example\.com'"):
        Wires(*addresses).gate().connect_tcp("example.com", 80)


def test_a_failing_look_up_means_that_there_is_no_such_host() -> None:
    def failing(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    gate = GuardedBackend(AddressPolicy(), TransferBudget(timeout=5, max_bytes=1), failing, Wires().dial)
    with pytest.raises(NotFound, match=r"no host 'nope\.example'"):
        gate.connect_tcp("nope.example", 80)


def test_a_look_up_without_end_is_left() -> None:
    done = threading.Event()

    def endless(host: str, port: int) -> Sequence[str]:
        done.wait(10)
        return ()

    gate = GuardedBackend(AddressPolicy(), TransferBudget(timeout=0.05, max_bytes=1), endless, Wires().dial)
    with pytest.raises(Exhausted, match=r"within 0\.05 s"):
        gate.connect_tcp("slow.example", 80)
    done.set()


def test_the_next_address_is_tried() -> None:
    tried: list[str] = []

    def half_dead(address: str, port: int, seconds: float) -> NetworkStream:
        tried.append(address)
        if len(tried) == 1:
            raise httpcore2.ConnectTimeout
        if len(tried) == 2:
            raise httpcore2.ConnectError
        return Stub(address)

    wires = Wires("2606:2800::1", "8.8.4.4", "8.8.8.8")
    GuardedBackend(AddressPolicy(), TransferBudget(timeout=5, max_bytes=1), wires.resolve, half_dead).connect_tcp(
        "example.com", 80
    )
    assert tried == ["2606:2800::1", "8.8.4.4", "8.8.8.8"]


def test_a_host_that_nobody_answers_for_is_unavailable() -> None:
    def dead(address: str, port: int, seconds: float) -> NetworkStream:
        raise httpcore2.ConnectError

    with pytest.raises(Unavailable, match=r"'example\.com' does not accept"):
        GuardedBackend(
            AddressPolicy(), TransferBudget(timeout=5, max_bytes=1), Wires("8.8.8.8").resolve, dead
        ).connect_tcp("example.com", 80)


def test_time_and_bytes_run_out() -> None:
    stream = MeteredStream(Stub(data=b"x" * 600), TransferBudget(timeout=5, max_bytes=1000))
    assert len(stream.read(9999)) == 600
    with pytest.raises(Exhausted, match="without end"):
        stream.read(9999)
    late = MeteredStream(Stub(), TransferBudget(timeout=0, max_bytes=1000))
    with pytest.raises(Exhausted):
        late.read(1)
    with pytest.raises(Exhausted):
        late.write(b"x")


def test_a_secured_connection_is_metered_too_and_keeps_the_name() -> None:
    inner = Stub()
    stream = MeteredStream(inner, TransferBudget(timeout=5, max_bytes=1000))
    secured = stream.start_tls(httpcore2.default_ssl_context(), "example.com")
    assert isinstance(secured, MeteredStream)
    assert inner.secured == ["example.com"]
    secured.write(b"x")
    secured.close()
    assert inner.closed


def test_a_real_name_and_a_real_connection() -> None:
    with contextlib.suppress(OSError):
        assert set(resolve_host("localhost", 80)) <= {"127.0.0.1", "::1"}
    with serving() as server:
        server.replies["/"] = answer(b"x")
        stream = connect_address("127.0.0.1", server.port, 5)
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", server.port)
        stream.close()
