"""Servers on this machine with prepared replies, and a web in memory."""

import contextlib
import gzip
import socket
import threading
import zlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field

from marid.core.errors import NotFound
from marid.ports.web import CrossHostRedirect, Target, WebPage
from marid.text.web.http_urls import parse_url

Reply = bytes | Callable[[socket.socket], None]


def answer(
    body: bytes = b"", *, status: str = "200 OK", kind: str = "text/plain", headers: Mapping[str, str] | None = None
) -> bytes:
    """A whole HTTP reply that closes the connection: a client that reused it would lose its request."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"the body of a hop", status=status, headers={"Location": location})


def bomb(size: int = 1 << 30) -> bytes:
    """Compressed data that expands to `size` zeros; its end is missing."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(b"")[:10] + block * (size >> 20)


@dataclass(kw_only=True)
class Server:
    """Raw replies by path; `asked` has the requests."""

    port: int
    replies: dict[str, Reply] = field(default_factory=dict[str, Reply])
    asked: list[bytes] = field(default_factory=list[bytes])

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.place}{path}"

    def paths(self) -> list[str]:
        return [request.split(b" ")[1].decode() for request in self.asked]


@contextlib.contextmanager
def serving(*, wrap: Callable[[socket.socket], socket.socket] | None = None) -> Generator[Server]:
    """A server on a free loopback port. `wrap` adds TLS to a connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(port=listener.getsockname()[1])
        worker = threading.Thread(target=_serve, args=(listener, server, wrap), daemon=True)
        worker.start()
        yield server
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        worker.join(10)


def _serve(listener: socket.socket, server: Server, wrap: Callable[[socket.socket], socket.socket] | None) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with contextlib.suppress(OSError), connection:
            _answer(wrap(connection) if wrap else connection, server)


def _answer(connection: socket.socket, server: Server) -> None:
    connection.settimeout(10)
    request = b""
    while b"\r\n\r\n" not in request:
        data = connection.recv(65536)
        if not data or data.startswith(b"\x16"):  # the connection is closed, or a TLS handshake
            return
        request += data
    server.asked.append(request)
    path = request.split(b" ")[1].decode().partition("?")[0]
    reply = server.replies.get(path, answer(b"no such page", status="404 Not Found"))
    if callable(reply):
        reply(connection)
    else:
        connection.sendall(reply)
    connection.close()


@dataclass(kw_only=True)
class FakeWeb:
    """The port Web over pages by URL; `fetched` records the calls."""

    pages: Mapping[str, WebPage | CrossHostRedirect]
    engine_url: str = "https://search.example.com/html/"
    fetched: list[str] = field(default_factory=list[str])

    @property
    def search_target(self) -> Target:
        return parse_url(self.engine_url)

    def check_target(self, target: Target) -> None:
        """Every target is public."""

    def fetch(self, target: Target, *, max_bytes: int, timeout: float) -> WebPage | CrossHostRedirect:
        self.fetched.append(str(target))
        if str(target) not in self.pages:
            raise NotFound(f"'{target.authority}' has no such page (status 404)")
        return self.pages[str(target)]
