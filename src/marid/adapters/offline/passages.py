"""Choose search words for a question, and the best passages of the search results."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

MAX_WORDS = 4
MAX_PASSAGES = 5
_MAX_PASSAGE_LINES = 12
_MAX_LINE_LENGTH = 200
_MAX_QUESTION_LENGTH = 4_000
_MIN_WORD_LENGTH = 3
_WORD = r"\w{2,}"
_RESULT_LINE = r"^(?P<path>.+?):(?P<line>\d+)(?P<mark>: |-)(?P<text>.*)$"
_DEFINITION_KEYWORDS = (
    "class|defp?|fn|func|function|struct|enum|union|trait|interface|type|typedef|module|const|let|var|val"
)
_ASKS_FOR_DEFINITION = r"\b(?:defin|declar|implement)"
_README_BONUS = 0.1
DEFINITIONS = ""
_STOP_WORDS = """
    a about all also an and any are argument at be because been but by call called can change changes check code could
    define defined defines definition describe did different do does each else every explain file files find for from
    function get give had has have help here how i if implemented in into is it its just know like line lines list look
    made make many me more most my need new no not now of on one only or our out over own part please project question
    read review say see should show some summarise summarize take tell than that the their them then there these they
    thing this those to too understand up us use used user uses using very want was we well were what when where which
    while who why will with without work works would write you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


class Passage(NamedTuple):
    """Consecutive lines of a file."""

    path: str
    first_line: int
    lines: tuple[str, ...]

    @property
    def location(self) -> str:
        """In the form that editors open."""
        last = self.first_line + len(self.lines) - 1
        return f"{self.path}:{self.first_line}" if last == self.first_line else f"{self.path}:{self.first_line}-{last}"


def search_words(question: str) -> tuple[str, ...]:
    """The words of a question that are worth a search: names of code first, then long words, at most MAX_WORDS."""
    words: dict[str, str] = {}
    for word in re.findall(_WORD, question[:_MAX_QUESTION_LENGTH]):
        if len(word) >= _MIN_WORD_LENGTH and not word.isdigit() and word.lower() not in STOP_WORDS:
            words.setdefault(word.lower(), word)
    order = {word: place for place, word in enumerate(words.values())}
    best = sorted(order, key=lambda word: (not _is_name(word), -min(len(word), 8), order[word]))
    return tuple(best[:MAX_WORDS])


def _is_name(word: str) -> bool:
    """Whether the word looks like code: with underscores, digits or capitals inside."""
    return "_" in word.strip("_") or any(char.isdigit() or char.isupper() for char in word[1:])


def stem(word: str) -> str:
    """A plain word without its plural; names of code stay."""
    plural = len(word) > _MIN_WORD_LENGTH + 1 and word.isalpha() and word.islower() and word.endswith("s")
    return word[:-1] if plural and not word.endswith("ss") else word


def word_pattern(word: str) -> str:
    """Matches a word; a short one only as a whole word, since too many words contain it."""
    plain = re.escape(stem(word))
    return rf"(?i)\b{plain}\b" if len(word) <= _MIN_WORD_LENGTH else f"(?i){plain}"


def definition_words(question: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words whose definition the question may ask for: all if it says so, else those that look like names."""
    if re.search(_ASKS_FOR_DEFINITION, question[:_MAX_QUESTION_LENGTH], re.IGNORECASE):
        return tuple(words)
    begin = question.lstrip()
    return tuple(word for word in words if _is_name(word) or (word[0].isupper() and not begin.startswith(word)))


def definition_pattern(words: Iterable[str]) -> str:
    """Matches a definition of one of the words, in most languages."""
    names = "|".join(re.escape(word) for word in words)
    return rf"(?i)\b(?:{_DEFINITION_KEYWORDS})\s+(?:{names})\b"


def best_passages(found: Mapping[str, str]) -> tuple[Passage, ...]:
    """The passages with the most words, where rare words count more. `found` has the output of each search by its word;
    that of the search for definitions is under DEFINITIONS.
    """
    lines: dict[str, dict[int, str]] = {}
    hits: dict[str, dict[int, dict[str, float]]] = {}
    weights: dict[str, float] = {}
    for word, text in found.items():
        count = 0
        for match in re.finditer(_RESULT_LINE, text, re.MULTILINE):
            path, number = match["path"], int(match["line"])
            lines.setdefault(path, {}).setdefault(number, match["text"])
            if match["mark"] == ": ":
                count += 1
                known = hits.setdefault(path, {}).setdefault(number, {})
                for one, quality in _qualities(match["text"], word, found).items():
                    known[one] = max(quality, known.get(one, 0.0))
        weights[word] = 1 / (1 + log(1 + count))
    scored = [
        (_score(path, numbers, hits.get(path, {}), weights), path, numbers)
        for path, there in lines.items()
        for numbers in _group_consecutive(there)
    ]
    scored.sort(key=lambda one: (-one[0], one[1], one[2]))
    return tuple(
        _make_passage(path, numbers, lines[path], hits.get(path, {})) for _, path, numbers in scored[:MAX_PASSAGES]
    )


def _qualities(line: str, word: str, words: Iterable[str]) -> dict[str, float]:
    """How well a line fits the word that found it, and the other words that it contains."""
    lowered = line.lower()
    there = {one for one in words if one != DEFINITIONS and stem(one).lower() in lowered}
    if word == DEFINITIONS:
        return {one: 4.0 if re.search(rf"\b{re.escape(one)}\b", line) else 3.0 for one in there}
    return {one: _quality(line, one) for one in (*there, word)}


def _quality(line: str, word: str) -> float:
    """A match inside another word counts less."""
    return 1.0 if re.search(rf"\b{re.escape(stem(word))}(?:s|ed|ing)?\b", line, re.IGNORECASE) else 0.4


def _group_consecutive(numbers: Iterable[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _score(
    path: str, numbers: Sequence[int], hits: Mapping[int, Mapping[str, float]], weights: Mapping[str, float]
) -> float:
    best: dict[str, float] = {}
    together = 0.0
    for number in numbers:
        there = hits.get(number, {})
        for word, quality in there.items():
            best[word] = max(quality, best.get(word, 0.0))
        if len(there) > 1:
            together = max(together, sum(weights[word] * min(quality, 1.0) for word, quality in there.items()))
    lowered = path.lower()
    named = sum(weights[word] for word in best if word.lower() in lowered)
    welcome = _README_BONUS if lowered.rpartition("/")[2].startswith("readme") else 0.0
    return sum(weights[word] * quality for word, quality in best.items()) + (named + together) / 2 + welcome


def _make_passage(
    path: str, numbers: Sequence[int], lines: Mapping[int, str], hits: Mapping[int, Mapping[str, float]]
) -> Passage:
    """The lines, or, if there are many, those from just before the best one."""
    start = 0
    if len(numbers) > _MAX_PASSAGE_LINES:
        richest = max(range(len(numbers)), key=lambda place: sum(hits.get(numbers[place], {}).values()))
        start = max(0, min(richest - 2, len(numbers) - _MAX_PASSAGE_LINES))
    kept = numbers[start : start + _MAX_PASSAGE_LINES]
    return Passage(path, kept[0], tuple(lines[number][:_MAX_LINE_LENGTH] for number in kept))
