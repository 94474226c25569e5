"""Every cache keeps the promises of `ports.cache`."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fakes.ports import FakeCache
from marid.adapters.sqlite_cache import SqliteCache
from marid.ports.cache import Cache


@pytest.fixture(params=["sqlite", "fake"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cache]:
    if request.param == "fake":
        yield FakeCache()
        return
    with closing(SqliteCache(str(tmp_path / "cache.db"))) as real:
        yield real


def test_a_row_comes_back(cache: Cache) -> None:
    cache.put("tokens", {b"a": b"1", b"b": b"2"})
    assert cache.get("tokens", [b"a", b"b"]) == {b"a": b"1", b"b": b"2"}


def test_a_key_that_is_not_there_is_left_out(cache: Cache) -> None:
    cache.put("tokens", {b"a": b"1"})
    assert cache.get("tokens", [b"b", b"a"]) == {b"a": b"1"}


def test_an_empty_cache_has_nothing(cache: Cache) -> None:
    assert cache.get("tokens", [b"a"]) == {}


def test_no_keys_no_rows(cache: Cache) -> None:
    cache.put("tokens", {})
    assert cache.get("tokens", []) == {}


def test_kinds_do_not_mix(cache: Cache) -> None:
    cache.put("tokens", {b"a": b"1"})
    cache.put("outline", {b"a": b"def f()"})
    assert cache.get("tokens", [b"a"]) == {b"a": b"1"}
    assert cache.get("outline", [b"a"]) == {b"a": b"def f()"}


def test_the_later_row_replaces_the_earlier(cache: Cache) -> None:
    cache.put("tokens", {b"a": b"1"})
    cache.put("tokens", {b"a": b"2"})
    assert cache.get("tokens", [b"a"]) == {b"a": b"2"}


def test_a_key_asked_twice_is_answered_once(cache: Cache) -> None:
    cache.put("tokens", {b"a": b"1"})
    assert cache.get("tokens", [b"a", b"a"]) == {b"a": b"1"}


def test_any_bytes_are_a_key_and_a_value(cache: Cache) -> None:
    rows = {bytes([n]): bytes([n, 0, 255]) for n in range(256)} | {b"": b""}
    cache.put("tokens", rows)
    assert cache.get("tokens", list(rows)) == rows


def test_more_keys_than_one_question_holds(cache: Cache) -> None:
    rows = {b"%d" % n: b"%d" % (n * n) for n in range(1234)}
    cache.put("tokens", rows)
    assert cache.get("tokens", [*rows, b"missing"]) == rows
