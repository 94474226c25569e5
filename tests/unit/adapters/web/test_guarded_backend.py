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
    Dial,
    GuardedBackend,
    MeteredStream,
    NetworkFunctions,
    Resolve,
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


class FakeNetwork:
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

    def backend(self, *, resolve: Resolve | None = None, dial: Dial | None = None) -> GuardedBackend:
        budget = TransferBudget(timeout=0.5, max_bytes=1000)
        network = NetworkFunctions(resolve or self.resolve, dial or self.dial)
        return GuardedBackend(AddressPolicy(), budget, network)


def test_a_name_is_looked_up_once_and_what_was_checked_is_dialled() -> None:
    network = FakeNetwork("8.8.8.8", "8.8.4.4")
    stream = network.backend().connect_tcp("example.com", 80)
    assert isinstance(stream, MeteredStream)
    assert network.looked_up == ["example.com:80"]
    assert network.dialled == ["8.8.8.8:80"]


def test_an_address_is_not_looked_up() -> None:
    network = FakeNetwork()
    network.backend().connect_tcp("8.8.8.8", 443)
    assert network.looked_up == []
    assert network.dialled == ["8.8.8.8:443"]


@pytest.mark.parametrize("bad", ["127.0.0.1", "::1", "10.0.0.1", "::ffff:127.0.0.1", "fe80::1%eth0", "169.254.169.254"])
def test_one_bad_answer_spoils_all(bad: str) -> None:
    network = FakeNetwork("8.8.8.8", bad)
    with pytest.raises(Refused):
        network.backend().connect_tcp("rebind.example", 80)
    assert network.dialled == []


@pytest.mark.parametrize(
    ("peer", "error"), [("127.0.0.1", "ended at another address"), ("gone", "closed the connection")]
)
def test_a_connection_that_is_lost_or_ends_elsewhere_is_closed(peer: str, error: str) -> None:
    network = FakeNetwork("8.8.8.8", peer=peer)
    with pytest.raises(MaridError, match=error):
        network.backend().connect_tcp("example.com", 80)
    assert network.streams[0].closed


@pytest.mark.parametrize("addresses", [(), ("nonsense",)])
def test_a_host_without_an_address_is_an_error(addresses: tuple[str, ...]) -> None:
    with pytest.raises(MaridError, match=r"'example\.com'"):
        FakeNetwork(*addresses).backend().connect_tcp("example.com", 80)


def test_a_failing_look_up_means_that_there_is_no_such_host() -> None:
    def failing(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    with pytest.raises(NotFound, match=r"no host 'nope\.example'"):
        FakeNetwork().backend(resolve=failing).connect_tcp("nope.example", 80)


def test_a_look_up_without_end_is_left() -> None:
    done = threading.Event()

    def endless(host: str, port: int) -> Sequence[str]:
        done.wait(10)
        return ()

    with pytest.raises(Exhausted, match=r"within 0\.5 s"):
        FakeNetwork().backend(resolve=endless).connect_tcp("slow.example", 80)
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

    FakeNetwork("2606:2800::1", "8.8.4.4", "8.8.8.8").backend(dial=half_dead).connect_tcp("example.com", 80)
    assert tried == ["2606:2800::1", "8.8.4.4", "8.8.8.8"]


def test_a_host_that_accepts_no_connection_is_unavailable() -> None:
    def dead(address: str, port: int, timeout: float) -> NetworkStream:
        raise httpcore2.ConnectError

    with pytest.raises(Unavailable, match=r"'example\.com' does not accept"):
        FakeNetwork("8.8.8.8").backend(dial=dead).connect_tcp("example.com", 80)


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
