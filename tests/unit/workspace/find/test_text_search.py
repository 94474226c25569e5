"""Searching many files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.ports import InlineWorkers
from marid.core.errors import BadInput, Exhausted, MaridError
from marid.text.line_search import LinePattern, find_hits, literal_pattern, parse_pattern
from marid.workspace.find.text_search import Grep, SearchedFile, TextSearch, iter_files, make_prefilter
from marid.workspace.guard.api import PathScope

T = TypeVar("T")
FILES = [SearchedFile(f"{number}.txt", b"one\ntwo %d\nthree\n" % number) for number in range(6)]


class Watched(InlineWorkers):
    """Counts the texts that reach a worker."""

    def __init__(self) -> None:
        self.texts = 0

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        self.texts += sum(len(call[1]) for call in calls)
        return super().run_all(work, calls, cost=cost)


def lines(grep: Grep, files: Sequence[SearchedFile] = FILES) -> list[tuple[str, list[int]]]:
    return [(found.path, [hit.line for hit in found.hits]) for found in grep.run(files)]


def test_files_with_hits_come_in_their_order() -> None:
    grep = Grep(TextSearch(parse_pattern(r"two [24]"), 50), InlineWorkers())
    assert lines(grep) == [("2.txt", [2]), ("4.txt", [2])]
    assert grep.is_complete


def test_it_stops_when_there_are_enough() -> None:
    for pattern in (literal_pattern("t"), parse_pattern("t.")):
        grep = Grep(TextSearch(pattern, 3), InlineWorkers())
        assert lines(grep) == [("0.txt", [2, 3]), ("1.txt", [2])]
        assert not grep.is_complete


def test_exactly_enough_is_complete_but_one_more_is_not() -> None:
    grep = Grep(TextSearch(literal_pattern("two 5"), 1))
    assert (lines(grep), grep.is_complete) == ([("5.txt", [2])], True)
    grep = Grep(TextSearch(literal_pattern("two"), 5))
    assert len(lines(grep)) == 5
    assert not grep.is_complete


def test_only_files_that_may_match_a_regex_reach_a_worker() -> None:
    workers = Watched()
    grep = Grep(TextSearch(parse_pattern(r"\w+ 3"), 50), workers)
    assert lines(grep) == [("3.txt", [2])]
    assert workers.texts == 1
    workers = Watched()
    assert lines(Grep(TextSearch(parse_pattern(r"two\ 3"), 50), workers)) == [("3.txt", [2])]
    assert workers.texts == 0


def test_a_pattern_of_somebody_else_never_runs_here() -> None:
    with pytest.raises(ValueError, match="needs workers"):
        Grep(TextSearch(LinePattern(source="a"), 1))


def test_many_files_are_searched_in_batches() -> None:
    many = [SearchedFile(str(number), b"x" * 200_000 + b"\n%d\n" % number) for number in range(40)]
    grep = Grep(TextSearch(parse_pattern(r"^\d+$"), 100), InlineWorkers())
    assert lines(grep, many) == [(str(number), [2]) for number in range(40)]


def test_it_ends_when_time_is_up() -> None:
    grep = Grep(TextSearch(literal_pattern("t"), 3, timeout=-1))
    assert lines(grep) == []
    assert grep.timed_out
    assert not grep.is_complete


@pytest.mark.parametrize(
    ("error", "words"), [(Exhausted("it was given up"), "use a simpler one"), (BadInput("wrong"), "wrong")]
)
def test_the_error_of_a_worker_is_raised(error: MaridError, words: str) -> None:
    class Broken(InlineWorkers):
        def run_all(
            self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
        ) -> "list[T | Exception]":
            return [error for _ in calls]

    with pytest.raises(type(error), match=words):
        lines(Grep(TextSearch(parse_pattern("(a+)+b"), 3), Broken()), [SearchedFile("a", b"aaaab")])


TEXTS = st.text(st.sampled_from("aKkSsiIıſ\u212a\u0130é \n"), max_size=12)


@pytest.mark.parametrize("source", ["a", "é", "(?i)ki.", "(?i)s+", "k.|a.s", "[^é]k", "(?i)é.", "é.", "(?i)a|s"])
@given(text=TEXTS, codec=st.sampled_from(["utf-8", "utf-16", "utf-8-sig", "cp1252"]))
def test_no_file_with_a_hit_is_passed_over(source: str, text: str, codec: str) -> None:
    data = text.encode(codec, "ignore")
    pattern = parse_pattern(source)
    if find_hits(pattern, [data], 1)[0]:
        assert make_prefilter(pattern)(SearchedFile("a", data))


def test_files_that_cannot_match_are_passed_over() -> None:
    for pattern in (*map(parse_pattern, ("b", "(?i)b.", "b.|c.d")), literal_pattern("ü")):
        assert not make_prefilter(pattern)(SearchedFile("a", "xé".encode()))


def test_the_files_of_a_walk_are_read(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a")
    (tmp_path / "b.py").write_text("b")
    (tmp_path / "c.txt").write_text("c")
    (tmp_path / "empty.py").touch()
    place = PathScope([str(tmp_path)]).resolve(".")
    assert [source.path for source in iter_files(place.walk())] == ["b.py", "c.txt", "src/a.py"]
    wanted = iter_files(place.walk(), lambda path: path.endswith(".py"), "top/")
    assert list(wanted) == [SearchedFile("top/b.py", b"b"), SearchedFile("top/src/a.py", b"a")]
