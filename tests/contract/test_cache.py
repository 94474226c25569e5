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


def test_rows_come_back_by_their_keys(cache: Cache) -> None:
    assert cache.get("tokens", [b"a"]) == {}
    cache.put("tokens", {})
    cache.put("tokens", {b"a": b"1", b"b": b"2"})
    assert cache.get("tokens", [b"a", b"b", b"missing", b"a"]) == {b"a": b"1", b"b": b"2"}
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


@pytest.mark.parametrize(
    "rows",
    [
        {bytes([n]): bytes([n, 0, 255]) for n in range(256)} | {b"": b""},
        {b"%d" % n: b"%d" % (n * n) for n in range(1234)},  # more keys than one question holds
    ],
    ids=["any bytes", "many keys"],
)
def test_all_rows_come_back(cache: Cache, rows: dict[bytes, bytes]) -> None:
    cache.put("tokens", rows)
    assert cache.get("tokens", [*rows, b"missing"]) == rows
