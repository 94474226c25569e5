import pytest

from marid.core.errors import Unavailable
from marid.text.web.http_urls import parse_url
from marid.text.web.pages import SearchResult, parse_results

AT = parse_url("https://html.duckduckgo.com/html/?q=x")


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
    return parse_results(f"<html><body>{''.join(parts)}</body></html>".encode(), "utf-8", AT)


def test_a_result_has_title_address_and_snippet() -> None:
    wrapped = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc&amp;rut=123"
    assert found(result(wrapped)) == (
        SearchResult(title="A title", url="https://example.com/a?b=c", snippet="Some words here"),
    )


def test_a_plain_link_is_taken_as_it_is() -> None:
    assert [hit.url for hit in found(result("https://example.com/x"))] == ["https://example.com/x"]


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


def test_a_result_may_lack_title_and_snippet() -> None:
    page = '<div class="result"><a class="result__a" href="https://example.com/"></a></div>'
    assert found(page) == (SearchResult(title="https://example.com/", url="https://example.com/", snippet=""),)


def test_a_challenge_is_said_to_be_one() -> None:
    with pytest.raises(Unavailable, match="proof of a human"):
        found('<div class="anomaly-modal__title">Unfortunately, bots</div>')
