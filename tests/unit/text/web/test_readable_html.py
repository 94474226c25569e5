import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.web.http_urls import parse_url
from marid.text.web.pages import extract_readable

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


def test_an_image_is_what_it_says() -> None:
    assert text('<a href="/x"><img src="y" alt="A cat"></a>') == "[A cat](https://example.com/x)"
    assert text("<p><a href='/x'><img src='y'></a></p>after") == "after"


def test_control_and_direction_characters_do_not_come_through() -> None:
    assert text("<p>a\x1b[31mb\u202ec\x07d\u200be</p>") == "a [31mb c d e"


def test_a_link_around_blocks_ends_at_the_first_line() -> None:
    assert text('<a href="/x">one<div>two</div></a> three') == "[one](https://example.com/x)\ntwo\nthree"
    assert text('<a href="/x">one<a href="/y">two</a>') == ("[one](https://example.com/x)[two](https://example.com/y)")


def test_ends_without_beginnings_do_no_harm() -> None:
    assert text("</pre></a></svg></title>a</p></h1>b") == "a\n\nb"
    assert text("<pre>a\n  b") == "a\n  b"


PIECES = st.sampled_from([*"<>/=\"' abp!-[]&;#x0\n", "script", "pre", "<a href=", "<!--", "<![", "CDATA[", "<!doctype"])


@given(st.lists(PIECES).map("".join))
def test_any_page_can_be_read(page: str) -> None:
    found = extract_readable(page.encode(), "utf-8", AT)
    assert "\n\n\n" not in found.text


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(data: bytes) -> None:
    extract_readable(data.replace(b"\0", b""), "latin1", AT)
