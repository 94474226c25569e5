from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.web.http_urls import MAX_URL_LENGTH, join_url, parse_url, with_query


def test_a_url_is_taken_apart() -> None:
    target = parse_url("HTTPS://Example.COM:8443/a/b?c=d#e")
    assert (target.scheme, target.host, target.port, target.path) == ("https", "example.com", 8443, "/a/b?c=d")
    assert str(target) == "https://example.com:8443/a/b?c=d"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("http://example.com", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com#top", "https://example.com/"),
        ("https://example.com/ü?ö={x}|", "https://example.com/%C3%BC?%C3%B6=%7Bx%7D%7C"),
        ("https://example.com/a%20b?c=%26", "https://example.com/a%20b?c=%26"),
        ("http://93.184.216.34/", "http://93.184.216.34/"),
        ("http://[2606:2800:0220:0001::]/", "http://[2606:2800:220:1::]/"),
        ("http://[2606:2800:220:1::]:8080/", "http://[2606:2800:220:1::]:8080/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://_dmarc.example.com/", "https://_dmarc.example.com/"),
        ("https://example.com/@user", "https://example.com/@user"),
        ("http://example.com#@127.0.0.1/", "http://example.com/"),
        ("http://example.com?@127.0.0.1/", "http://example.com/?@127.0.0.1/"),
    ],
)
def test_what_is_usual_is_taken(text: str, whole: str) -> None:
    assert str(parse_url(text)) == whole
    assert parse_url(whole) == parse_url(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.com", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)"),
        *("http://", "http:///path", "http://user:pw@example.com/", "http://user@example.com/"),
        # Spellings of 127.0.0.1 and others that one reader takes for a name and another for an address.
        *("http://127.1", "http://0x7f.1", "http://0x7f000001", "http://2130706433", "http://017700000001"),
        *("http://0177.0.0.1", "http://0", "http://127.0.0.1.", "http://1.2.3.4.5", "http://example.0x1/"),
        *("http://example.com:0/", "http://example.com:65536/", "http://example.com:80:80/", "http://example.com:/"),
        *("http://example.com:080/", "http://example.com:+80/", "http://example.com:８０/"),
        *("http://host\r\nX: y/", "http://exa mple.com/", "http://example.com/a b", "http://example.com/\t"),
        *("http://example.com/\0", "http://example.com/\u202e", "http://example.com/\ud800", " http://example.com"),
        *("http://127.0.0.1\\@example.com/", "http://example.com\\@127.0.0.1/", "http:\\\\example.com"),
        *("http://example.com;@127.0.0.1/", "http://%31%32%37.0.0.1/", "http://localhost%00.example.com/"),
        *("http://[::1]:80@example.com", "http://[::1", "http://[::1]x/", "http://[fe80::1%25eth0]/", "http://::1/"),
        *("http://[1.2.3.4]/", "http://[:::]/", "http://exämple.com/", "http://１２７.0.0.1/", "http://example。com/"),
        *("http://-example.com/", "http://example-.com/", "http://exa..mple.com/", "http://.example.com/"),
        *("http://example.com./", f"http://{'a' * 64}.com/", f"http://{'a.' * 4000}com/", "http://a_b_/"),
        "http://example.com/" + "a" * (1 << 20),
    ],
    ids=lambda text: ascii(text)[:60],
)
def test_an_ambiguous_url_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_url(text)
    assert len(str(caught.value)) < 400
    assert "pw" not in str(caught.value)


def test_a_long_host_name_is_refused() -> None:
    host = ".".join(["a" * 60] * 5)
    assert len(host) < MAX_URL_LENGTH
    with pytest.raises(BadInput, match="not a host name"):
        parse_url(f"http://{host}/")


@pytest.mark.parametrize(
    ("location", "whole"),
    [
        ("/x", "https://example.com/x"),
        ("x", "https://example.com/a/x"),
        ("../x?y", "https://example.com/x?y"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example", "http://other.example/"),
        ("?q=1", "https://example.com/a/b?q=1"),
    ],
)
def test_a_link_leads_on_from_where_it_stands(location: str, whole: str) -> None:
    assert str(join_url(parse_url("https://example.com/a/b"), location)) == whole


@pytest.mark.parametrize(
    "location", ["", "ftp://x/", "javascript:x", "//user@x/", "/a b", "/a\\b", "http://[/", "//127.1/", "mailto:a@b.c"]
)
def test_a_link_elsewhere_is_none(location: str) -> None:
    with pytest.raises(BadInput):
        join_url(parse_url("https://example.com/a/b"), location)


def test_a_query_is_added_to_what_is_there() -> None:
    assert str(with_query(parse_url("https://x.org/html/"), "q", "a b&c=ü")) == "https://x.org/html/?q=a+b%26c%3D%C3%BC"
    assert str(with_query(parse_url("https://x.org/?k=1"), "q", "a")) == "https://x.org/?k=1&q=a"


PIECES = st.sampled_from(
    [
        *("http://", "https://", "//", "@", ":", "/", "?", "#", "\\", "[", "]", "%", "example.com", "127.0.0.1", "::1"),
        *("localhost", "80", "443", ".", "0x7f", "2130706433", "user", "%31", "。", "\t", "\u00ad", "xn--a"),
    ]
)
URLS = st.one_of(
    st.text(max_size=40).map("http://".__add__), st.lists(PIECES, max_size=8).map("".join).map("http://".__add__)
)


@given(URLS)
@example("http://a.b:80?c@d")
def test_where_we_take_a_url_another_parser_finds_the_same_host(text: str) -> None:
    try:
        target = parse_url(text)
    except BadInput:
        return
    other = urlsplit(text)
    assert other.hostname is not None
    assert parse_url(f"http://[{other.hostname}]/" if ":" in other.hostname else f"http://{other.hostname}/").host == (
        target.host
    )
    assert (other.port or (443 if target.scheme == "https" else 80)) == target.port
    assert other.username is None
    again = parse_url(str(target))
    assert again == target
    assert str(target).isascii()
