"""From a question to search words, and from search results to the passages that fit best."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

MOST_WORDS = 4
MOST_PASSAGES = 5
_LONGEST_PASSAGE = 12
_LONGEST_LINE = 200
_READ = 4_000
_SHORTEST = 3
_WORD = r"\w{2,}"
_FOUND = r"^(?P<path>.+?):(?P<line>\d+)(?P<mark>: |-)(?P<text>.*)$"
_EMPTY_WORDS = """
    a about all also an and any are argument at be because been but by call called can change changes check code could
    define defined defines definition describe did
    different do does each else every explain file files find for from function get give had has have help here how i if
    implemented in into is it its just know like line lines list look made make many me more most my need new no not now
    of on one
    only or our out over own part please project question read review say see should show some summarise summarize take
    tell than that the their them then there these they thing this those to too understand up us use used user uses
    using very want was we well were what when where which while who why will with without work works would write you
    your
"""
EMPTY_WORDS = frozenset(_EMPTY_WORDS.split())


class Passage(NamedTuple):
    """Lines of a file that belong together, with the number of the first."""

    path: str
    first: int
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        """As an editor would open it."""
        last = self.first + len(self.lines) - 1
        return f"{self.path}:{self.first}" if last == self.first else f"{self.path}:{self.first}-{last}"


def search_words(question: str) -> tuple[str, ...]:
    """The words of a question that are worth a search: names of code first, then long words, at most MOST_WORDS."""
    words: dict[str, str] = {}
    for word in re.findall(_WORD, question[:_READ]):
        if len(word) >= _SHORTEST and not word.isdigit() and word.lower() not in EMPTY_WORDS:
            words.setdefault(word.lower(), word)
    order = {word: place for place, word in enumerate(words.values())}
    best = sorted(order, key=lambda word: (not _is_name(word), -min(len(word), 8), order[word]))
    return tuple(best[:MOST_WORDS])


def _is_name(word: str) -> bool:
    """Whether the word is written as code is: with underscores or digits, or with capitals inside."""
    return "_" in word.strip("_") or any(char.isdigit() or char.isupper() for char in word[1:])


def best_passages(found: Mapping[str, str]) -> tuple[Passage, ...]:
    """The passages that hold the most of the words, rare ones counting more; `found` is a search's text by its word."""
    lines: dict[str, dict[int, str]] = {}
    hits: dict[str, dict[int, set[str]]] = {}
    weights: dict[str, float] = {}
    for word, text in found.items():
        count = 0
        for match in re.finditer(_FOUND, text, re.MULTILINE):
            path, number = match["path"], int(match["line"])
            lines.setdefault(path, {}).setdefault(number, match["text"])
            if match["mark"] == ": ":
                count += 1
                hits.setdefault(path, {}).setdefault(number, set()).add(word)
        weights[word] = 1 / (1 + log(1 + count))
    scored = [
        (_score(path, numbers, hits.get(path, {}), weights), path, numbers)
        for path, known in lines.items()
        for numbers in _runs(known)
    ]
    scored.sort(key=lambda one: (-one[0], one[1], one[2]))
    return tuple(
        _passage(path, numbers, lines[path], hits.get(path, {})) for _, path, numbers in scored[:MOST_PASSAGES]
    )


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """Line numbers that follow each other, together."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _score(path: str, numbers: Sequence[int], hits: Mapping[int, set[str]], weights: Mapping[str, float]) -> float:
    words = {word for number in numbers for word in hits.get(number, ())}
    lowered = path.lower()
    named = sum(weights[word] for word in words if word.lower() in lowered)
    return sum(weights[word] for word in words) + named / 2


def _passage(path: str, numbers: Sequence[int], lines: Mapping[int, str], hits: Mapping[int, set[str]]) -> Passage:
    """The run itself, or, where it is long, the part of it that begins just before its richest line."""
    start = 0
    if len(numbers) > _LONGEST_PASSAGE:
        richest = max(range(len(numbers)), key=lambda place: len(hits.get(numbers[place], ())))
        start = max(0, min(richest - 2, len(numbers) - _LONGEST_PASSAGE))
    kept = numbers[start : start + _LONGEST_PASSAGE]
    return Passage(path, kept[0], tuple(lines[number][:_LONGEST_LINE] for number in kept))
