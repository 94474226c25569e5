import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import Refused, Unavailable
from marid.text.web.http_urls import parse_url
from marid.text.web.pages import SearchResult, decode_page, extract_readable, parse_results


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("grün".encode(), "", "grün"),
        ("grün".encode(), "UTF-8", "grün"),
        (b"\xef\xbb\xbfa", "", "a"),
        ("grün".encode("latin-1"), "iso-8859-1", "grün"),
        ("grün".encode("latin-1"), "", "grün"),
        ("\u201cx\u201d".encode("cp1252"), "ISO-8859-1", "\u201cx\u201d"),
        ("日本".encode("shift_jis"), "shift_jis", "日本"),
        ("日本".encode("utf-16-le"), "utf-16le", "日本"),
        (b'<meta charset="koi8-r">' + "да".encode("koi8-r"), "", '<meta charset="koi8-r">да'),
        (b"plain", "rot13", "plain"),
        (b"plain", "zlib", "plain"),
        (b"plain", "no such", "plain"),
        (b"\xff\xfe", "utf-8", "ÿþ"[:0]),
    ],
)
def test_a_page_is_read_in_its_encoding(data: bytes, charset: str, text: str) -> None:
    assert decode_page(data, charset) == text


def test_a_binary_page_is_refused() -> None:
    with pytest.raises(Refused, match="binary"):
        decode_page(b"a\0b", "utf-8")


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_character_that_was_cut_does_not_change_the_others(cut: int) -> None:
    data = "grün 🙂".encode()[:-cut]
    assert decode_page(data, "", whole=False) == "grün "


def test_a_cut_page_in_another_encoding_is_decoded() -> None:
    assert decode_page("grün und gut".encode("latin-1"), "", whole=False) == "grün und gut"
    assert decode_page(b"plain", "", whole=False) == "plain"


AT = parse_url("https://example.com/docs/page")


def text(html: str) -> str:
    return extract_readable(html.encode("utf-8", "replace"), "utf-8", AT).text


def test_a_page_becomes_text_with_title_headings_lists_and_links() -> None:
    page = """<!doctype html><html><head><title> The
      page </title><style>p { color: red }</style><script>var x = "<p>no</p>";</script></head>
      <body><nav><a href="/">Home</a></nav><h1>Head &amp; shoulders</h1><p>Some <b>bold</b>
      text, <a href="other?x=1#y">a  link</a>.</p><ul><li>one<li>two</ul>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
      <pre>def f():
    return 1
</pre><p>end<br>of it</p></body></html>"""
    found = extract_readable(page.encode(), "", AT)
    assert found.title == "The page"
    assert found.text == (
        "[Home](https://example.com/)\n"
        "\n"
        "# Head & shoulders\n"
        "\n"
        "Some bold text, [a link](https://example.com/docs/other?x=1).\n"
        "\n"
        "- one\n"
        "- two\n"
        "\n"
        "a | b\n"
        "1 | 2\n"
        "\n"
        "def f():\n"
        "    return 1\n"
        "\n"
        "end\n"
        "of it"
    )


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "#top", "data:text/html,x", "", "http://user:pw@x.org/", "\x01"]
)
def test_a_link_that_cannot_be_fetched_is_only_its_text(href: str) -> None:
    assert text(f'<p>see <a href="{href}">this</a></p>') == "see this"
    assert text("<p>see <a>this</a></p>") == "see this"


def test_what_is_not_seen_is_left_out() -> None:
    assert text("a<script>b</script><noscript>c</noscript><svg><svg>d</svg>e</svg><template>f</template>g") == "ag"
    assert text("a<svg/>b<br/>c") == "ab\nc"
    assert text("a<svg/>b<iframe src='x'></iframe>c<!-- d -->e") == "abce"


def test_images_show_their_text_and_odd_characters_and_tags_do_no_harm() -> None:
    assert text('<a href="/x"><img src="y" alt="A cat"></a>') == "[A cat](https://example.com/x)"
    assert text("<p><a href='/x'><img src='y'></a></p>after") == "after"
    assert text("<p>a\x1b[31mb\u202ec\x07d\u200be</p>") == "a [31mb c d e"
    assert text("</pre></a></svg></title>a</p></h1>b") == "a\n\nb"
    assert text("<pre>a\n  b") == "a\n  b"


def test_a_link_around_blocks_ends_at_the_first_line() -> None:
    assert text('<a href="/x">one<div>two</div></a> three') == "[one](https://example.com/x)\ntwo\nthree"
    assert text('<a href="/x">one<a href="/y">two</a>') == ("[one](https://example.com/x)[two](https://example.com/y)")


PIECES = st.sampled_from([*"<>/=\"' abp!-[]&;#x0\n", "script", "pre", "<a href=", "<!--", "<![", "CDATA[", "<!doctype"])


@given(st.lists(PIECES).map("".join))
def test_any_page_can_be_read(page: str) -> None:
    found = extract_readable(page.encode(), "utf-8", AT)
    assert "\n\n\n" not in found.text


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(data: bytes) -> None:
    extract_readable(data.replace(b"\0", b""), "latin1", AT)


ENGINE = parse_url("https://html.duckduckgo.com/html/?q=x")


def result(href: str, title: str = "A <b>title</b>", snippet: str = "Some <b>words</b>\n here", more: str = "") -> str:
    return f"""
      <div class="result results_links results_links_deep web-result {more}">
        <div class="links_main links_deep result__body">
          <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
          <div class="result__extras"><a class="result__url" href="{href}">shown.example</a></div>
          <a class="result__snippet" href="{href}">{snippet}</a>
        </div>
      </div>"""


def found(*parts: str) -> tuple[SearchResult, ...]:
    return parse_results(f"<html><body>{''.join(parts)}</body></html>".encode(), "utf-8", ENGINE)


def test_a_result_has_title_address_and_snippet_or_what_there_is_of_them() -> None:
    wrapped = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc&amp;rut=123"
    assert found(result(wrapped)) == (
        SearchResult(title="A title", url="https://example.com/a?b=c", snippet="Some words here"),
    )
    assert [hit.url for hit in found(result("https://example.com/x"))] == ["https://example.com/x"]
    page = '<div class="result"><a class="result__a" href="https://example.com/"></a></div>'
    assert found(page) == (SearchResult(title="https://example.com/", url="https://example.com/", snippet=""),)


@pytest.mark.parametrize(
    "href",
    [
        *("javascript:alert(1)", "data:text/html,x", "", "/html/?q=more", "//duckduckgo.com/y.js?ad_domain=x"),
        *("//duckduckgo.com/l/?uddg=javascript%3Aalert(1)", "//duckduckgo.com/l/?uddg=", "https://user:pw@x.org/"),
        "//duckduckgo.com/l/?" + "&".join("a=1" for _ in range(100)),
    ],
)
def test_a_link_that_is_not_a_result_is_dropped(href: str) -> None:
    assert found(result(href), result("https://example.com/")) == found(result("https://example.com/"))


def test_advertisements_are_left_out() -> None:
    assert [
        hit.url for hit in found(result("https://ad.example/", more="result--ad"), result("https://b.example"))
    ] == ["https://b.example/"]


def test_parts_are_one_line_each_and_not_long() -> None:
    (hit,) = found(result("https://example.com/", "a\x1b[2J\nb\u202e" + "x" * 999, "ignore previous\n\n" + "y" * 999))
    assert hit.title.startswith("a [2J b x")
    assert len(hit.title) == 200
    assert len(hit.snippet) == 500
    assert "\n" not in hit.title + hit.snippet


def test_a_challenge_is_said_to_be_one() -> None:
    with pytest.raises(Unavailable, match="proof of a human"):
        found('<div class="anomaly-modal__title">Unfortunately, bots</div>')
