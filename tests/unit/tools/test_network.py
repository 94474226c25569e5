from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.tool_caller import ToolCaller
from fakes.web import FakeWeb
from marid.ports.web import CrossHostRedirect, Web, WebPage
from marid.text.web.http_urls import parse_url
from marid.toolkit.params import tool_params
from marid.tools.network import fetch_url, web_search

URL = "https://example.com/docs/"
SEARCH = "https://search.example.com/html/?q=open+the+door"
HIT = '<div class="result"><a class="result__a" href="{0}">Title {0}</a><a class="result__snippet">About {0}</a></div>'


def page(data: bytes, kind: str = "text/html", url: str = URL, *, whole: bool = True) -> WebPage:
    return WebPage(target=parse_url(url), kind=kind, charset="utf-8", data=data, whole=whole)


def hands(root: Path, pages: Mapping[str, WebPage | CrossHostRedirect]) -> ToolCaller:
    return ToolCaller(root, {Web: FakeWeb(pages=pages)})


def test_html_becomes_text(tmp_path: Path) -> None:
    found = page(b"<title>Docs</title><h1>Start</h1><p>See <a href='more'>more</a>.</p>")
    outcome = hands(tmp_path, {URL: found}).output(fetch_url, url=URL)
    assert outcome.text == "Title: Docs\n\n# Start\n\nSee [more](https://example.com/docs/more)."
    assert outcome.values == {
        "url": URL,
        "content_type": "text/html",
        "bytes": len(found.data),
        "truncated": False,
        "title": "Docs",
    }


def test_other_text_comes_as_it_is_and_a_page_without_a_title_has_no_line_for_it(tmp_path: Path) -> None:
    found = page(b'{"a": "<b>"}\n', "application/json")
    assert hands(tmp_path, {URL: found}).text(fetch_url, url=URL) == '{"a": "<b>"}\n'
    assert hands(tmp_path, {URL: page(b"<p>x", "application/xhtml+xml")}).text(fetch_url, url=URL) == "x"


def test_a_page_that_was_cut_says_so(tmp_path: Path) -> None:
    outcome = hands(tmp_path, {URL: page(b"<p>x", whole=False)}).output(fetch_url, url=URL)
    assert outcome.text == "x\n(cut after 4 bytes of the page; max_bytes can be at most 5242880)"
    assert outcome.values["truncated"] is True


def test_another_host_is_named_and_not_visited(tmp_path: Path) -> None:
    web = FakeWeb(pages={URL: CrossHostRedirect(target=parse_url("https://other.example/x"))})
    outcome = ToolCaller(tmp_path, {Web: web}).output(fetch_url, url=URL)
    assert outcome.text.endswith("fetch this address if you want it: https://other.example/x")
    assert outcome.values == {"moved_to": "https://other.example/x"}
    assert web.fetched == [URL]


@pytest.mark.parametrize(
    "args",
    [
        *({"max_bytes": 0}, {"max_bytes": -1}, {"max_bytes": 5242881}, {"max_bytes": 2**62}, {"max_bytes": "many"}),
        *({"timeout_secs": 0}, {"timeout_secs": -1}, {"timeout_secs": 61}, {"timeout_secs": "soon"}),
        *({"url": "file:///etc/passwd"}, {"url": "http://user:pw@example.com"}, {"url": ""}, {"headers": {}}),
    ],
)
def test_what_cannot_be_meant_is_bad_input(tmp_path: Path, args: dict[str, Any]) -> None:
    working = hands(tmp_path, {URL: page(b"x")})
    assert working.failure(fetch_url, **{"url": URL, **args}).code == "bad_input"


def test_five_results_have_three_lines_each(tmp_path: Path) -> None:
    hits = "".join(HIT.format(f"https://{letter}.example/") for letter in "abcdefg")
    web = FakeWeb(pages={SEARCH: page(hits.encode(), url=SEARCH)})
    outcome = ToolCaller(tmp_path, {Web: web}).output(web_search, query="  open the\ndoor ")
    assert outcome.text.split("\n\n")[0] == "Title https://a.example/\nhttps://a.example/\nAbout https://a.example/"
    assert outcome.text.count("\n\n") == 4
    assert outcome.values["results"] == [
        {"title": f"Title {url}", "url": url, "snippet": f"About {url}"}
        for url in (f"https://{letter}.example/" for letter in "abcde")
    ]


def test_no_results_is_a_result(tmp_path: Path) -> None:
    nothing = page(b'<div class="no-results">No results.</div>', url=SEARCH)
    outcome = hands(tmp_path, {SEARCH: nothing}).output(web_search, query="open the door")
    assert outcome.text == "No results for: open the door"
    assert outcome.values == {"results": []}


def test_a_search_engine_that_has_changed_or_moved_is_unavailable(tmp_path: Path) -> None:
    moved = CrossHostRedirect(target=parse_url("https://new.example/"))
    for found, words in ((page(b"<p>new design", url=SEARCH), "changed its pages"), (moved, "setting search_url")):
        failure = hands(tmp_path, {SEARCH: found}).failure(web_search, query="open the door")
        assert (failure.code, words in failure.message) == ("unavailable", True)


@pytest.mark.parametrize("query", ["", " \n ", "x" * 501, "a\x1bb", "\u202e"])
def test_what_is_no_query_is_bad_input(tmp_path: Path, query: str) -> None:
    assert hands(tmp_path, {}).failure(web_search, query=query).code == "bad_input"


def test_the_question_names_the_host(tmp_path: Path) -> None:
    web = FakeWeb(pages={}, engine_url="http://127.0.0.1:8123/html/")
    given = tool_params(fetch_url).parse({"url": "https://Example.com:8443/x"}, ToolCaller(tmp_path).path_scope)
    assert fetch_url.subject is not None
    assert fetch_url.subject({**given, "web": web}) == "example.com:8443"
    assert web_search.subject is not None
    assert web_search.subject({"query": "x", "web": web}) == "127.0.0.1:8123"
