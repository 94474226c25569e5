from fakes.outlines import FakeOutlines
from fakes.ports import FakeCache
from marid.assembly.outline_cache import CachedOutlines


def test_an_outline_or_that_there_is_none_is_made_and_stored_once() -> None:
    inner, cache = FakeOutlines(), FakeCache()
    for _ in range(2):
        assert CachedOutlines(inner, cache).outline(b"def f():\n  pass", "python") == "def f():"
        assert CachedOutlines(inner, cache).outline(b"", "python") is None
    assert len(inner.asked) == len(cache.puts) == 2


def test_only_what_is_new_is_asked_for_and_the_order_is_kept() -> None:
    inner, cache = FakeOutlines(), FakeCache()
    outlines = CachedOutlines(inner, cache)
    outlines.outline(b"b", "python")
    found = outlines.outlines([(b"a", "python"), (b"b", "python"), (b"a", "python"), (b"", "python")])
    assert found == ["a", "b", "a", None]
    assert [data for data, _ in inner.asked] == [b"b", b"a", b""]


def test_the_same_bytes_in_another_language_are_another_file() -> None:
    outlines = CachedOutlines(FakeOutlines(), FakeCache())
    assert [outlines.outline(b"a", language) for language in ("python", "none")] == ["a", None]


def test_an_odd_character_survives_being_kept() -> None:
    class Odd(FakeOutlines):
        def outline(self, data: bytes, language: str) -> str | None:
            return f"{data.decode()}{language}\udcff"

    outlines = CachedOutlines(Odd(), FakeCache())
    assert outlines.outline(b"a", "python") == "apython\ufffd\ufffd\ufffd"
