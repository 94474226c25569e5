"""Open sockets: resolve a name once, check every address, connect to a checked address.

The check sits in the network backend of the HTTP library, below redirects and retries, so that nothing can skip it.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any, NamedTuple, TypeAlias

import httpcore2
from httpcore2 import SOCKET_OPTION, NetworkBackend, NetworkStream

from marid.adapters.web.address_policy import Address, AddressPolicy
from marid.core.errors import Exhausted, NotFound, Refused, Unavailable

MAX_ADDRESSES = 8
CONNECT_TIMEOUT = 5.0

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
Dial: TypeAlias = Callable[[str, int, float], NetworkStream]


def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises: OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def connect_address(address: str, port: int, timeout: float) -> NetworkStream:
    """A connection to an IP address. Raises: httpcore2.NetworkError, httpcore2.TimeoutException."""
    return httpcore2.SyncBackend().connect_tcp(address, port, timeout)


class NetworkFunctions(NamedTuple):
    """Replacements for tests; `ssl_context` None means the system's certificates."""

    resolve: Resolve = resolve_host
    dial: Dial = connect_address
    ssl_context: SSLContext | None = None


class TransferBudget:
    """The time and the bytes that all connections of one call have left."""

    def __init__(self, *, timeout: float, max_bytes: int) -> None:
        self._deadline = time.monotonic() + timeout
        self._timeout = timeout
        self._bytes_left = max_bytes

    def remaining_seconds(self) -> float:
        """How long the call may still take. Raises: Exhausted when the time is over."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self.timeout_error()
        return left

    def timeout_error(self) -> Exhausted:
        """What to raise when the time is over."""
        return Exhausted(f"there was no complete response within {self._timeout:g} s")

    def spend(self, count: int) -> None:
        """Count received bytes. Raises: Exhausted when they are too many."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise Exhausted("the server sends without end")


class GuardedBackend(NetworkBackend):
    """Opens connections for one call."""

    def __init__(self, policy: AddressPolicy, budget: TransferBudget, network: NetworkFunctions) -> None:
        self._policy = policy
        self._budget = budget
        self._network = network

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        """Raises: Refused, NotFound, Exhausted, Unavailable."""
        addresses = self._resolve_addresses(host, port)
        for address in addresses:
            self._policy.check_address(host, port, address)
        for address in addresses:
            with contextlib.suppress(httpcore2.NetworkError, httpcore2.TimeoutException):
                stream = self._network.dial(str(address), port, min(self._budget.remaining_seconds(), CONNECT_TIMEOUT))
                return MeteredStream(_verify_peer(stream, host, address), self._budget)
        raise Unavailable(f"'{host}' does not accept a connection")

    def _resolve_addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            found = self._resolve_with_timeout(host, port)
        try:
            return [ip_address(text) for text in found[:MAX_ADDRESSES]]
        except ValueError as cause:
            raise Unavailable(f"'{host}' has an address that cannot be read") from cause

    def _resolve_with_timeout(self, host: str, port: int) -> Sequence[str]:
        """Resolve in a thread, since a look-up has no time limit."""
        found: list[Sequence[str]] = []
        errors: list[OSError | UnicodeError] = []

        def work() -> None:
            try:
                found.append(self._network.resolve(host, port))
            except (OSError, UnicodeError) as error:
                errors.append(error)

        worker = threading.Thread(target=work, name="marid-look-up", daemon=True)
        worker.start()
        worker.join(self._budget.remaining_seconds())
        if errors or (found and not found[0]):
            raise NotFound(f"no host '{host}' was found") from (errors[0] if errors else None)
        if not found:
            raise self._budget.timeout_error()
        return found[0]


def _verify_peer(stream: NetworkStream, host: str, address: Address) -> NetworkStream:
    try:
        peer = ip_address(stream.get_extra_info("server_addr")[0])
    except OSError as cause:
        stream.close()
        raise Unavailable(f"'{host}' closed the connection") from cause
    if peer != address:
        stream.close()
        raise Refused(f"the connection to '{host}' ended at another address")
    return stream


class MeteredStream(NetworkStream):
    """A connection that fails once the call has used up its time or its bytes."""

    def __init__(self, stream: NetworkStream, budget: TransferBudget) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Raises: Exhausted."""
        data = self._stream.read(max_bytes, self._budget.remaining_seconds())
        self._budget.spend(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Raises: Exhausted."""
        self._stream.write(buffer, self._budget.remaining_seconds())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        """Raises: Exhausted."""
        inner = self._stream.start_tls(ssl_context, server_hostname, self._budget.remaining_seconds())
        return MeteredStream(inner, self._budget)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
