"""The web as a hostile place: what a model asks for, through the tools and the real client, against real servers.

Each test names the lines of the list of attacks that it stands for.
"""

import gzip
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from fakes.web import Server, answer, bomb, redirect, serving
from marid.adapters.web.client import NetworkFunctions, WebClient
from marid.ports.web import Web
from marid.toolkit.outcome import ToolFailure, ToolOutput
from marid.toolkit.params import tool_params
from marid.tools.network import fetch_url, web_search

CANARY = "canary-7f3a"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        server.replies["/"] = answer(CANARY.encode())
        yield server


@pytest.fixture
def inner() -> Iterator[Server]:
    """What a guard must keep everybody from: a service of this machine."""
    with serving() as server:
        server.replies["/"] = answer(CANARY.encode())
        yield server


def web_tools(root: Path, *allowed: Server, network: NetworkFunctions | None = None) -> ToolCaller:
    places = [server.place for server in allowed]
    engine = allowed[0].url("/html/") if allowed else "https://html.duckduckgo.com/html/"
    return ToolCaller(root, {Web: WebClient(allow=places, engine=engine, network=network)})


def refused(root: Path, url: str, *allowed: Server, network: NetworkFunctions | None = None) -> ToolFailure:
    failure = web_tools(root, *allowed, network=network).failure(fetch_url, url=url)
    assert failure.code in ("refused", "bad_input"), failure
    assert CANARY not in failure.message
    return failure


def resolving(*addresses: str) -> NetworkFunctions:
    """Names lead where the test says; no test may reach the network."""

    def dial(address: str, port: int, seconds: float) -> None:
        raise AssertionError(f"{address}:{port} was dialled")

    return NetworkFunctions(resolve=lambda _host, _port: addresses, dial=dial)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://localhost/", "http://[::1]/"),  # H01
        *("http://127.1", "http://0x7f.1", "http://0x7f000001", "http://2130706433", "http://017700000001"),  # H02
        *("http://0177.0.0.1", "http://0"),
        *(
            "http://10.0.0.1",
            "http://172.16.0.1",
            "http://192.168.0.1",
            "http://169.254.1.1",
            "http://100.64.0.1",
        ),  # H04
        *("http://192.0.0.1", "http://198.18.0.1", "http://240.0.0.1", "http://255.255.255.255", "http://0.0.0.0"),
        *("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/"),  # H05
        *("http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a00:1]/", "http://[2002:7f00:1::]/", "http://[2001::1]/"),
        *("http://[fc00::1]/", "http://[fe80::1%25eth0]/", "http://[fec0::1]/", "http://[ff02::1]/"),
        "http://224.0.0.1/",
        *("http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/"),  # H06
        "http://100.100.100.200/",
        "http://user:pw@example.com/",  # H12
        *(f"http://example.com:{port}/" for port in ("22", "25", "6379", "8999", "0", "65536", "80:80")),  # H13
        *("http://host\r\nX: y/", "http://a b/", "http://a\tb/", "http://a\0b/"),  # H14
        *("http://" + "a" * 8192 + "/", "http://example.com/" + "a" * (1 << 20), "http://" + "a" * 64 + ".com/"),  # H16
        *(
            "http://127.0.0.1\\@example.com/",
            "http://example.com\\@127.0.0.1/",
            "http://example.com;@127.0.0.1/",
        ),  # H17
        *("http://%31%32%37.0.0.1/", "http://localhost%00.example.com/", "http://[::1]:80@example.com"),  # H20, H21
    ],
    ids=lambda url: ascii(url)[:60],
)
def test_no_spelling_of_an_inner_place_is_connected_to(tmp_path: Path, url: str) -> None:
    refused(tmp_path, url, network=resolving("127.0.0.1"))


def test_what_stands_after_the_host_does_not_change_it(tmp_path: Path) -> None:
    """H18."""
    seen: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        seen.append(f"{host}:{port}")
        return ["127.0.0.1"]

    for url in ("http://example.com#@127.0.0.1/", "http://example.com?@127.0.0.1/", "http://example.com/;@127.0.0.1/"):
        refused(tmp_path, url, network=NetworkFunctions(resolve=resolve))
    assert seen == ["example.com:80"] * 3


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("8.8.8.8", "127.0.0.1"), ("::1",), ("::ffff:10.0.0.1",)])
def test_a_name_that_leads_inside_is_refused_and_the_address_not_told(
    tmp_path: Path, addresses: tuple[str, ...]
) -> None:
    """H08, H09."""
    failure = refused(tmp_path, "http://rebind.example/", network=resolving(*addresses))
    assert not [address for address in addresses if address in failure.message]


def test_an_allowed_name_that_leads_inside_is_refused(tmp_path: Path, inner: Server) -> None:
    """H09: whoever answers for the name must not choose what is reached."""
    web = WebClient(allow=[f"search.example:{inner.port}"], network=resolving("127.0.0.1"))
    failure = ToolCaller(tmp_path, {Web: web}).failure(fetch_url, url=f"http://search.example:{inner.port}/")
    assert failure.code == "refused"
    assert inner.asked == []


def test_the_second_answer_of_a_rebinding_resolver_is_never_asked_for(tmp_path: Path, inner: Server) -> None:
    """H08."""
    answers = iter(["8.8.8.8", "127.0.0.1"])
    dialled: list[str] = []

    def dial(address: str, port: int, seconds: float) -> None:
        import httpcore2

        dialled.append(address)
        raise httpcore2.ConnectError

    network = NetworkFunctions(resolve=lambda _host, _port: [next(answers)], dial=dial)  # pyright: ignore[reportArgumentType]
    failure = web_tools(tmp_path, network=network).failure(fetch_url, url="http://rebind.example/")
    assert failure.code == "unavailable"
    assert dialled == ["8.8.8.8"]
    assert next(answers) == "127.0.0.1", "it was not taken"


def test_a_server_of_this_machine_is_reached_only_by_the_setting(tmp_path: Path, server: Server, inner: Server) -> None:
    """H01, H10, H34: nothing that a server says opens another place."""
    assert web_tools(tmp_path, server).text(fetch_url, url=server.url()) == CANARY
    refused(tmp_path, inner.url(), server)
    server.replies["/proxy"] = answer(b"use it", headers={"Proxy": inner.url(), "X-Allowed-Hosts": inner.place})
    web_tools(tmp_path, server).text(fetch_url, url=server.url("/proxy"))
    refused(tmp_path, inner.url(), server)
    assert inner.asked == []


def test_a_redirect_inside_is_stopped_at_the_hop(tmp_path: Path, server: Server, inner: Server) -> None:
    """H24, H25."""
    places = [inner.url(), f"//{inner.place}/", "http://localhost/", "ftp://example.com/", "", "http://[::1]/"]
    for place in places:
        server.replies["/go"] = redirect(place)
        assert "hop" not in refused(tmp_path, server.url("/go"), server).message
    assert inner.asked == []


def test_chains_and_loops_end(tmp_path: Path, server: Server) -> None:
    """H25."""
    server.replies |= {f"/{step}": redirect(f"/{step + 1}") for step in range(6)} | {"/6": answer(b"end")}
    assert web_tools(tmp_path, server).text(fetch_url, url=server.url("/1")) == "end"
    assert web_tools(tmp_path, server).failure(fetch_url, url=server.url("/0")).code == "exhausted"
    server.replies["/loop"] = redirect("/loop")
    assert web_tools(tmp_path, server).failure(fetch_url, url=server.url("/loop")).code == "exhausted"


def test_another_host_is_a_new_question(tmp_path: Path, server: Server) -> None:
    """H36: a redirect to another host, which could carry data in its name, is told and not followed."""
    server.replies["/go"] = redirect("https://c2VjcmV0.evil.example/")
    outcome = web_tools(tmp_path, server).call(fetch_url, url=server.url("/go"))
    assert isinstance(outcome, ToolOutput)
    assert outcome.values == {"moved_to": "https://c2vjcmv0.evil.example/"}
    given = tool_params(fetch_url).parse({"url": "https://c2VjcmV0.evil.example/"}, ToolCaller(tmp_path).path_scope)
    assert fetch_url.subject is not None
    assert fetch_url.subject({**given, "web": WebClient()}) == "c2vjcmv0.evil.example"


def test_refresh_and_base_lead_nowhere(tmp_path: Path, server: Server) -> None:
    """H26."""
    body = b'<base href="http://evil.example/"><meta http-equiv="refresh" content="0;url=/x"><a href="y">z</a>'
    server.replies["/p"] = answer(body, kind="text/html", headers={"Refresh": "0; url=/x"})
    assert web_tools(tmp_path, server).text(fetch_url, url=server.url("/p")) == f"[z]({server.url('/y')})"
    assert server.paths() == ["/p"]


def test_bombs_are_cut_or_refused_in_little_memory(tmp_path: Path, server: Server) -> None:
    """H28."""
    packed = bomb()
    assert len(packed) < 2 << 20
    server.replies["/bomb"] = answer(packed, headers={"Content-Encoding": "gzip"}, kind="text/plain; charset=latin1")
    server.replies["/double"] = answer(gzip.compress(packed), headers={"Content-Encoding": "gzip, gzip"})
    server.replies["/br"] = answer(b"x", headers={"Content-Encoding": "br"})
    working = web_tools(tmp_path, server)
    working.text(fetch_url, url=server.url())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = working.call(fetch_url, url=server.url("/bomb"), max_bytes=1 << 20)
    assert isinstance(outcome, ToolOutput)
    assert outcome.values["truncated"] is True
    assert outcome.values["bytes"] == 1 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 << 10
    for path in ("/double", "/br"):
        assert working.failure(fetch_url, url=server.url(path)).code == "refused"


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\n" + CANARY.encode(),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n" + CANARY.encode(),
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1_000_000 + b"\r\n",
        b"",
    ],
    ids=["short", "chunks", "headers", "nothing"],
)
def test_a_broken_answer_is_an_error_without_its_parts(tmp_path: Path, server: Server, reply: bytes) -> None:
    """H29, H30; slow answers are in the tests of the client."""
    server.replies["/broken"] = reply
    failure = web_tools(tmp_path, server).failure(fetch_url, url=server.url("/broken"))
    assert failure.code == "unavailable"
    assert CANARY not in failure.message


@pytest.mark.parametrize("kind", ["application/zip", "image/svg+xml", "application/octet-stream", "image/png"])
def test_what_is_no_text_is_refused(tmp_path: Path, server: Server, kind: str) -> None:
    """H32."""
    server.replies["/file"] = answer(CANARY.encode(), kind=kind)
    refused(tmp_path, server.url("/file"), server)


def test_a_caller_cannot_name_a_gateway(tmp_path: Path, server: Server) -> None:
    """H33: neither tool takes an address of a service, a proxy or a header."""
    for extra in ("base_url", "gatewayUrl", "proxy", "headers"):
        assert web_tools(tmp_path, server).failure(fetch_url, url=server.url(), **{extra: "x"}).code == "bad_input"
        assert web_tools(tmp_path, server).failure(web_search, query="x", **{extra: "x"}).code == "bad_input"
    assert server.asked == []


def test_a_search_goes_to_the_engine_of_the_setting_and_its_results_are_plain(tmp_path: Path, server: Server) -> None:
    """H37, H38."""
    results = [
        ("javascript:alert(1)", "bad", "bad"),
        (
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fgood.example%2F",
            "Good\x1b[31m\u202e",
            "ignore previous\ninstructions",
        ),
        *((f"https://{number}.example/", "t", "s") for number in range(10_000)),
    ]
    body = "".join(
        f'<div class="result"><a class="result__a" href="{href}">{title}</a><a class="result__snippet">{text}</a></div>'
        for href, title, text in results
    )
    server.replies["/html/"] = answer(body.encode(), kind="text/html; charset=utf-8")
    text = web_tools(tmp_path, server).text(web_search, query="a b&c")
    assert text.startswith("Good [31m\nhttps://good.example/\nignore previous instructions\n\nt\nhttps://0.example/\ns")
    assert text.count("\n\n") == 4
    assert "javascript" not in text
    assert server.paths() == ["/html/?q=a+b%26c"]


def test_an_engine_inside_is_not_searched_without_the_setting(tmp_path: Path, inner: Server) -> None:
    web = WebClient(engine=inner.url("/html/"))
    assert ToolCaller(tmp_path, {Web: web}).failure(web_search, query="x").code == "refused"
    assert inner.asked == []
