"""What the port Web promises, over the wire and in memory."""

from collections.abc import Iterator

import pytest

from fakes.web import FakeWeb, answer, redirect, serving
from marid.adapters.web.client import WebClient
from marid.core.errors import NotFound
from marid.ports.web import CrossHostRedirect, Target, Web, WebPage
from marid.text.web.http_urls import parse_url

ELSEWHERE = parse_url("https://other.example/x")


@pytest.fixture(params=["wire", "memory"])
def world(request: pytest.FixtureRequest) -> Iterator[tuple[Web, Target]]:
    if request.param == "wire":
        with serving() as server:
            server.replies |= {"/": answer(b"hello"), "/gone": redirect(str(ELSEWHERE))}
            yield WebClient(allow=[server.place], engine=server.url("/html/")), parse_url(server.url())
        return
    at = parse_url("http://web.example/")
    page = WebPage(target=at, kind="text/plain", charset="", data=b"hello", whole=True)
    pages: dict[str, WebPage | CrossHostRedirect] = {str(at): page, f"{at}gone": CrossHostRedirect(target=ELSEWHERE)}
    yield FakeWeb(pages=pages, engine_url=f"{at}html/"), at


def beside(target: Target, path: str) -> Target:
    return parse_url(f"http://{target.authority}{path}")


def test_a_page_comes_with_its_kind(world: tuple[Web, Target]) -> None:
    web, at = world
    web.check_target(at)
    page = web.fetch(at, max_bytes=100, timeout=5)
    assert page == WebPage(target=at, kind="text/plain", charset="", data=b"hello", whole=True)


def test_a_page_on_another_host_is_only_named(world: tuple[Web, Target]) -> None:
    web, at = world
    assert web.fetch(beside(at, "/gone"), max_bytes=100, timeout=5) == CrossHostRedirect(target=ELSEWHERE)


def test_a_page_that_is_nowhere_is_not_found(world: tuple[Web, Target]) -> None:
    web, at = world
    with pytest.raises(NotFound, match="no such page"):
        web.fetch(beside(at, "/nope"), max_bytes=100, timeout=5)


def test_the_engine_is_a_place(world: tuple[Web, Target]) -> None:
    web, at = world
    assert web.search_target == beside(at, "/html/")
