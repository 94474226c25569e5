"""Where sockets are opened: a name is looked up once, every answer is checked, and a checked answer is connected to.

The check sits in the network backend of the HTTP library, below redirects and retries, so that nothing can skip it.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any, TypeAlias

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
    """A connection to an address, which is no name. Raises: httpcore2.NetworkError, httpcore2.TimeoutException."""
    return httpcore2.SyncBackend().connect_tcp(address, port, timeout)


class TransferBudget:
    """How much time and how many bytes a call has left, all its connections together."""

    def __init__(self, *, timeout: float, max_bytes: int) -> None:
        self._deadline = time.monotonic() + timeout
        self._timeout = timeout
        self._bytes_left = max_bytes

    def remaining_seconds(self) -> float:
        """Seconds. Raises: Exhausted when there are none."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self.timeout_error()
        return left

    def timeout_error(self) -> Exhausted:
        """What is raised when time is over."""
        return Exhausted(f"there was no whole answer within {self._timeout:g} s")

    def spend(self, count: int) -> None:
        """Take bytes off. Raises: Exhausted when too many were received."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise Exhausted("the server sends without end")


class GuardedBackend(NetworkBackend):
    """Opens connections for one call."""

    def __init__(
        self,
        policy: AddressPolicy,
        allowance: TransferBudget,
        resolve: Resolve = resolve_host,
        dial: Dial = connect_address,
    ) -> None:
        self._policy = policy
        self._allowance = allowance
        self._resolve = resolve
        self._dial = dial

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        """As in the library. Raises: Refused, NotFound, Exhausted, Unavailable."""
        addresses = self._resolve_addresses(host, port)
        for address in addresses:
            self._policy.check_address(host, port, address)
        for address in addresses:
            with contextlib.suppress(httpcore2.NetworkError, httpcore2.TimeoutException):
                stream = self._dial(str(address), port, min(self._allowance.remaining_seconds(), CONNECT_TIMEOUT))
                return MeteredStream(_verify_peer(stream, host, address), self._allowance)
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
        """In a thread of its own: a look-up knows no time limit."""
        found: list[Sequence[str]] = []
        trouble: list[OSError | UnicodeError] = []

        def work() -> None:
            try:
                found.append(self._resolve(host, port))
            except (OSError, UnicodeError) as error:
                trouble.append(error)

        worker = threading.Thread(target=work, name="marid-look-up", daemon=True)
        worker.start()
        worker.join(self._allowance.remaining_seconds())
        if trouble or (found and not found[0]):
            raise NotFound(f"no host '{host}' was found") from (trouble[0] if trouble else None)
        if not found:
            raise self._allowance.timeout_error()
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
    """A connection that ends when the call has used up its time or its bytes, however slowly they come."""

    def __init__(self, stream: NetworkStream, allowance: TransferBudget) -> None:
        self._stream = stream
        self._allowance = allowance

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """As in the library. Raises: Exhausted."""
        data = self._stream.read(max_bytes, self._allowance.remaining_seconds())
        self._allowance.spend(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """As in the library. Raises: Exhausted."""
        self._stream.write(buffer, self._allowance.remaining_seconds())

    def close(self) -> None:
        """As in the library."""
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        """As in the library. Raises: Exhausted."""
        inner = self._stream.start_tls(ssl_context, server_hostname, self._allowance.remaining_seconds())
        return MeteredStream(inner, self._allowance)

    def get_extra_info(self, info: str) -> Any:
        """As in the library."""
        return self._stream.get_extra_info(info)
