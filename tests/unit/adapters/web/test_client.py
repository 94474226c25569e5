import gzip
import socket
import ssl
import subprocess
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpcore2 import NetworkStream
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.web import Server, answer, bomb, redirect, serving
from marid.adapters.web.client import MAX_BYTES, NetworkFunctions, WebClient
from marid.adapters.web.guarded_backend import connect_address
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable
from marid.ports.web import CrossHostRedirect, WebPage
from marid.text.web.http_urls import parse_url


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def fetch(server: Server, path: str = "/", **limits: Any) -> WebPage | CrossHostRedirect:
    return WebClient(allow=[server.place]).fetch(parse_url(server.url(path)), **limits)


def page(server: Server, path: str = "/", **limits: Any) -> WebPage:
    found = fetch(server, path, **limits)
    assert isinstance(found, WebPage)
    return found


def test_a_page_is_fetched(server: Server) -> None:
    server.replies["/a"] = answer(b"hello", kind='Text/HTML; Charset="ISO-8859-1"')
    found = page(server, "/a?b=c#d")
    assert (found.kind, found.charset, found.data, found.whole) == ("text/html", "iso-8859-1", b"hello", True)
    assert str(found.target) == server.url("/a?b=c")
    request = server.asked[0].decode().split("\r\n")
    assert request[0] == "GET /a?b=c HTTP/1.1"
    assert f"Host: {server.place}" in request
    assert not [line for line in request if line.lower().startswith(("cookie", "authorization", "referer", "proxy"))]


def test_without_a_setting_loopback_is_refused(server: Server) -> None:
    with pytest.raises(Refused):
        WebClient().fetch(parse_url(server.url()))
    with pytest.raises(Refused):
        WebClient().check_target(parse_url("http://127.0.0.1/"))
    assert server.asked == []


def test_the_engine_is_a_setting() -> None:
    assert str(WebClient().search_target) == "https://html.duckduckgo.com/html/"
    assert WebClient(engine="http://127.0.0.1:8123/s").search_target.port == 8123
    with pytest.raises(BadInput):
        _ = WebClient(engine="nonsense").search_target


def test_the_environment_names_no_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.replies["/"] = answer(b"direct")
    assert page(server).data == b"direct"


# --- Redirects -----------------------------------------------------------------------------------------------------


def test_a_redirect_on_the_same_host_is_followed(server: Server) -> None:
    server.replies |= {"/a": redirect("b"), "/b": redirect("/c", "307 Temporary Redirect"), "/c": answer(b"end")}
    found = page(server, "/a")
    assert (found.data, str(found.target)) == (b"end", server.url("/c"))


def test_five_redirects_are_followed_but_not_six(server: Server) -> None:
    server.replies |= {f"/{step}": redirect(f"/{step + 1}") for step in range(1, 7)}
    server.replies["/7"] = answer(b"end")
    assert page(server, "/2").data == b"end"
    assert len(server.asked) == 6
    with pytest.raises(Exhausted, match="more than 5 times"):
        fetch(server, "/1")


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1:8999/", "//127.0.0.1:8999/", "http://127.0.0.1/", "http://[::1]/", "http://localhost/"),
        *("http://169.254.169.254/latest", "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", ""),
        *("http://user:pw@example.com/", "http://2130706433/", "http://example.com:22/", "/a b", "/a\\b"),
    ],
)
def test_every_hop_is_checked_again(server: Server, location: str) -> None:
    server.replies["/"] = redirect(location)
    with pytest.raises(Refused) as caught:
        fetch(server)
    assert "the body of a hop" not in str(caught.value)


@pytest.mark.parametrize("name", ["Location", "Content-Encoding"])
def test_a_header_that_is_sent_twice_is_refused(server: Server, name: str) -> None:
    status = "302 Found" if name == "Location" else "200 OK"
    server.replies["/"] = answer(status=status, headers={name: "gzip", name.lower(): "gzip"})
    with pytest.raises(Refused):
        fetch(server)


def test_a_redirect_to_another_host_is_returned_and_not_fetched(server: Server) -> None:
    server.replies["/"] = redirect("https://example.com/x")
    assert fetch(server) == CrossHostRedirect(target=parse_url("https://example.com/x"))


def test_other_headers_do_not_redirect(server: Server) -> None:
    server.replies["/"] = answer(b"here", headers={"Refresh": "0; url=/other", "Location": "/other"})
    assert page(server).data == b"here"
    assert server.paths() == ["/"]


# --- Bodies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text/plain", "text/x-python", "application/ld+json", "application/xml"])
def test_text_is_fetched(server: Server, kind: str) -> None:
    server.replies["/"] = answer(b"x", kind=kind)
    assert page(server).kind == kind


@pytest.mark.parametrize("kind", ["application/zip", "image/svg+xml", "application/octet-stream", "", "text/", "json"])
def test_other_kinds_of_content_are_refused(server: Server, kind: str) -> None:
    server.replies["/"] = answer(b"x", kind=kind)
    with pytest.raises(Refused, match="only text"):
        fetch(server)


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_page_is_decompressed(server: Server, coding: str, pack: Any) -> None:
    body = b"hello " * 1000
    server.replies["/"] = answer(pack(body), headers={"Content-Encoding": coding})
    assert page(server).data == body


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "deflate, gzip"])
def test_other_codings_are_refused(server: Server, coding: str) -> None:
    server.replies["/"] = answer(gzip.compress(gzip.compress(b"x")), headers={"Content-Encoding": coding})
    with pytest.raises(Refused):
        fetch(server)


def test_a_bomb_is_cut_at_the_limit(server: Server) -> None:
    server.replies["/"] = answer(bomb(), headers={"Content-Encoding": "gzip"})
    fetch(server, max_bytes=10)
    tracemalloc.start()
    try:
        found = page(server)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()
    assert len(found.data) == MAX_BYTES
    assert not found.whole


def test_a_long_page_is_cut_at_the_limit_and_at_five_megabytes(server: Server) -> None:
    server.replies |= {"/": answer(b"x" * 1000), "/long": answer(b"x" * (MAX_BYTES + 5))}
    found = page(server, max_bytes=100)
    assert (len(found.data), found.whole) == (100, False)
    assert page(server, max_bytes=1000).whole
    assert len(page(server, "/long", max_bytes=1 << 30).data) == MAX_BYTES


# --- Servers that misbehave ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *(("404 Not Found", NotFound), ("410 Gone", NotFound), ("500 Oops", Unavailable)),
        *(("403 Forbidden", Unavailable), ("304 Not Modified", Unavailable)),
    ],
)
def test_an_error_of_the_server_names_its_status(server: Server, status: str, error: type[MaridError]) -> None:
    server.replies["/"] = answer(status=status)
    with pytest.raises(error, match=f"status {status[:3]}"):
        fetch(server)


BROKEN = {
    "switching": answer(status="101 Switching Protocols"),
    "short": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nshort",
    "chunks": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    "early": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    "garbage": b"\x16\x03\x01 nonsense\r\n\r\n",
    "nothing": b"",
    "headers": b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(100_000)) + b"\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "packed": answer(gzip.compress(b"hello")[:-3], headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_broken_response_is_an_error_that_shows_nothing_of_it(server: Server, reply: bytes) -> None:
    server.replies["/"] = reply
    with pytest.raises(Unavailable) as caught:
        fetch(server)
    assert "hello" not in str(caught.value)


def test_a_longer_body_than_announced_is_cut_there(server: Server) -> None:
    server.replies["/"] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nabcdef"
    assert page(server).data == b"ab"


def drip(head: bytes, drop: bytes) -> Any:
    def reply(connection: socket.socket) -> None:
        connection.settimeout(0.02)
        connection.sendall(head)
        for _ in range(1000):
            connection.sendall(drop)
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                pass

    return reply


SLOW = {
    "body": (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"x"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "silence": (b"", b""),
}


@pytest.mark.parametrize(("head", "drop"), SLOW.values(), ids=SLOW)
def test_time_counts_from_the_beginning_however_busy_the_server_is(server: Server, head: bytes, drop: bytes) -> None:
    server.replies["/"] = drip(head, drop)
    with pytest.raises(Exhausted, match=r"within 0\.3 s"):
        fetch(server, timeout=0.3)


def test_a_server_that_never_stops_is_stopped(server: Server) -> None:
    def reply(connection: socket.socket) -> None:
        for _ in range(1000):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)

    server.replies["/"] = reply
    with pytest.raises(Exhausted):
        fetch(server, timeout=1.0)


def test_a_closed_port_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unavailable, match="does not accept a connection"):
        WebClient(allow=[f"127.0.0.1:{port}"]).fetch(parse_url(f"http://127.0.0.1:{port}/"))


def test_an_encrypted_page_from_a_server_that_does_not_encrypt_is_unavailable(server: Server) -> None:
    with pytest.raises(Unavailable, match="the connection to"):
        WebClient(allow=[server.place]).fetch(parse_url(server.url().replace("http", "https")))


# --- Encryption ----------------------------------------------------------------------------------------------------


class Elsewhere(NetworkStream):
    """A connection to a server of ours that says it goes to a public address."""

    def __init__(self, port: int) -> None:
        self._stream = connect_address("127.0.0.1", port, 5)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        return self._stream.start_tls(ssl_context, server_hostname, timeout)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return ("8.8.8.8", 443)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the name web.example, signed by itself."""
    place = tmp_path_factory.mktemp("certificate") / "both.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    made += ["-subj", "/CN=web.example", "-addext", "subjectAltName=DNS:web.example", "-days", "2"]
    subprocess.run([*made, "-keyout", place, "-out", place.with_suffix(".crt")], check=True, capture_output=True)
    with place.open("ab") as file:
        file.write(place.with_suffix(".crt").read_bytes())
    return place


def test_the_certificate_must_be_for_the_name_though_an_address_is_dialled(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)
    with serving(wrap=lambda raw: context.wrap_socket(raw, server_side=True)) as server:
        server.replies["/"] = answer(b"secret")
        trust = ssl.create_default_context(cafile=str(certificate.with_suffix(".crt")))

        def resolve(host: str, port: int) -> list[str]:
            return ["8.8.8.8"]

        def dial(address: str, port: int, timeout: float) -> NetworkStream:
            return Elsewhere(server.port)

        network = NetworkFunctions(resolve=resolve, dial=dial, ssl_context=trust)
        client = WebClient(network=network)
        found = client.fetch(parse_url("https://web.example/"))
        assert isinstance(found, WebPage)
        assert found.data == b"secret"
        assert b"Host: web.example\r\n" in server.asked[0]
        with pytest.raises(Unavailable, match="certificate"):
            client.fetch(parse_url("https://other.example/"))
        with pytest.raises(Unavailable, match="certificate"):
            WebClient(network=network._replace(ssl_context=None)).fetch(parse_url("https://web.example/"))
    assert names == ["web.example", "other.example", "web.example"]


# --- What is checked is what is connected to -----------------------------------------------------------------------


class Tape(NetworkStream):
    """Plays an answer and keeps the request."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.sent = b""
        self._answer = answer(b"x")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data, self._answer = self._answer, b""
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.sent += buffer

    def close(self) -> None:
        pass

    def get_extra_info(self, info: str) -> Any:
        return (self.address, 80) if info == "server_addr" else None


PIECES = st.sampled_from(
    [
        *("@", ":", "/", "?", "#", "\\", "[", "]", "%", ".", "example.com", "127.0.0.1", "::1", "localhost", "80"),
        *("0x7f", "2130706433", "user", "%31", "%2e", "%40", "。", "\u00ad", "xn--a", "..", "//", "8.8.8.8", "a"),
    ]
)


@settings(max_examples=150)
@given(st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=30)))
def test_the_host_that_is_checked_is_the_host_that_is_connected_to(text: str) -> None:
    looked_up: list[tuple[str, int]] = []
    dialled: list[tuple[str, int]] = []
    tapes: list[Tape] = []

    def resolve(host: str, port: int) -> list[str]:
        looked_up.append((host, port))
        return ["8.8.4.4"]

    def connect(address: str, port: int, seconds: float) -> NetworkStream:
        dialled.append((address, port))
        tapes.append(Tape(address))
        return tapes[-1]

    client = WebClient(network=NetworkFunctions(resolve=resolve, dial=connect))
    try:
        target = parse_url(f"http://{text}")
        client.check_target(target)
    except (BadInput, Refused):
        return
    client.fetch(target)
    by_name = not target.host.replace(".", "").isdigit() and ":" not in target.host
    assert looked_up == ([(target.host, target.port)] if by_name else [])
    assert dialled == [("8.8.4.4" if by_name else target.host, target.port)]
    request = tapes[0].sent.decode("ascii").split("\r\n")
    assert request[0] == f"GET {target.path} HTTP/1.1"
    assert [line for line in request if line.startswith("Host:")] == [f"Host: {target.authority}"]
