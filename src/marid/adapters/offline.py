"""The model without a network: it searches the project for the words of a question and quotes the best passages."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from math import log
from typing import NamedTuple, TypeAlias

from marid.core.errors import NotFound
from marid.core.model_io import (
    CallDelta,
    CallReady,
    CallStarted,
    Finished,
    FinishReason,
    Message,
    ModelInfo,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    message_tokens,
    request_tokens,
)
from marid.ports.model import OnModelEvent

OFFLINE = "offline"
_MAX_HITS = 120
_MAX_DEFINITIONS = 20
_MAX_NAMES = 10
_SHORT = 3
_LISTING_TOOLS = ("glob_files", "search_files")
_DEFINITION_SUFFIX = "defined"
_ADVICE = "An answer in words needs a model: set `provider` and `model`, and `api_key` where one is needed."
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
# The words that a line contains, by its number, and how well each fits.
LineHits: TypeAlias = Mapping[int, Mapping[str, float]]


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


class OfflineModel:
    """The port Model without a network. The history shows which reply is due: a search, or a quote of its results."""

    @property
    def provider(self) -> str:
        return OFFLINE

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        last = takewhile(lambda message: message.role == "tool", reversed(request.messages))
        parts = (part for message in reversed(list(last)) for part in message.parts)
        results = tuple(part for part in parts if isinstance(part, ToolResult))
        calls = () if results else tuple(_search_calls(request))
        pieces = () if calls else tuple(_compose_answer(request, results))
        for piece in pieces:
            await on_event(TextDelta(piece))
        for number, call in enumerate(calls):
            await on_event(CallStarted(number, call.name))
            await on_event(CallDelta(number, call.arguments))
        for number, call in enumerate(calls):
            await on_event(CallReady(number, call))
        reply = Message(role="assistant", parts=calls or (Text(text="".join(pieces)),))
        reason: FinishReason = "calls" if calls else "stop"
        await on_event(Usage(request_tokens(request), message_tokens(reply), estimated=True))
        await on_event(Finished(reason, reply, OFFLINE))

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(id=OFFLINE, provider=OFFLINE, name="passages of the project, no model"),)

    async def info(self, name: str) -> ModelInfo:
        if name != OFFLINE:
            raise NotFound(f"provider 'offline' has one model, 'offline', and no '{name}'")
        return (await self.models())[0]

    def context_window(self, name: str) -> int:
        return 0


def _question(request: ModelRequest) -> str:
    """The user's last message, without what the program adds to it."""
    asked = (message.user_text.strip() for message in reversed(request.messages) if message.role == "user")
    return next(filter(None, asked), "")


def _search_calls(request: ModelRequest) -> Iterator[ToolCall]:
    """A search of the files for each word of the question, and one of the file names for all words."""
    offered = {tool.name for tool in request.tools}
    if request.parameters.tool_choice == "none":
        return
    question = _question(request)
    words = search_words(question)
    prefix = f"offline-{len(request.messages)}"  # no call of an earlier round has this id
    if "grep_files" in offered:
        yield from _grep_calls(prefix, words, definition_words(question, words))
    long = [word for word in words if len(word) > _SHORT] or words
    names = "{" + ",".join(long) + "}" if len(long) > 1 else "".join(long) or "README"
    if "glob_files" in offered:
        yield _make_call(f"{prefix}-names", "glob_files", {"pattern": f"*{names}*", "max_results": _MAX_NAMES})
    elif "search_files" in offered:
        yield _make_call(f"{prefix}-names", "search_files", {"path": ".", "pattern": f"**/*{names}*"})


def _grep_calls(prefix: str, words: Sequence[str], named: Sequence[str]) -> Iterator[ToolCall]:
    """Definitions are searched too: a search for a common name may stop before it reaches them."""
    for number, word in enumerate(words):
        arguments = {"pattern": word_pattern(word), "context_lines": 2, "max_results": _MAX_HITS}
        yield _make_call(f"{prefix}-{number}", "grep_files", arguments)
    if named:
        defined = {"pattern": definition_pattern(named), "context_lines": 2, "max_results": _MAX_DEFINITIONS}
        yield _make_call(f"{prefix}-{_DEFINITION_SUFFIX}", "grep_files", defined)
    if not words:
        beginning = {"pattern": r"\S", "file_pattern": "README*", "context_lines": 2, "max_results": _MAX_NAMES}
        yield _make_call(f"{prefix}-readme", "grep_files", beginning)


def _make_call(id: str, name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _compose_answer(request: ModelRequest, results: tuple[ToolResult, ...]) -> Iterator[str]:
    words = search_words(_question(request))
    about = ", ".join(f'"{word}"' for word in words) or "the question"
    failed = [result for result in results if result.failed or result.text.startswith("ERROR: ")]
    searches = [result for result in results if result not in failed and result.name == "grep_files"]
    passages = best_passages({_word_of_call(result.call_id, words): result.text for result in searches})
    listings = [result.text for result in results if result not in failed and result.name in _LISTING_TOOLS]
    lines = [line for text in listings if not text.startswith("Nothing matches") for line in text.splitlines()]
    names = [line for line in lines if line and not line.startswith("(")]
    if passages or names:
        yield f"This is offline: no model was asked. What the project says about {about}:\n"
    elif results:
        yield f"This is offline: no model was asked, and nothing in the project matches {about}.\n"
    else:
        yield "This is offline: no model was asked, and no tool to search the project is offered.\n"
    yield from (_format_passage(passage) for passage in passages)
    if names:
        yield "\nFiles by name:\n" + "".join(f"- `{name}`\n" for name in names[:_MAX_NAMES])
    for result in failed:
        yield f"\nA search failed: {' '.join(result.text.split())[:300]}\n"
    yield f"\n{_ADVICE}\n"


def _word_of_call(call: str, words: tuple[str, ...]) -> str:
    """The word that a search was for; the id itself if it was not one of these searches."""
    number = call.rpartition("-")[2]
    if number == _DEFINITION_SUFFIX:
        return DEFINITIONS
    known = number.isascii() and number.isdecimal() and int(number) < len(words)
    return words[int(number)] if known else call


def _format_passage(passage: Passage) -> str:
    """The passage in a fence that is longer than any inside."""
    inside = "\n".join(passage.lines)
    longest = max((len(run) for run in re.findall("`{3,}", inside)), default=2)
    fence = "`" * (longest + 1)
    return f"\n{passage.location}\n{fence}\n{inside}\n{fence}\n"


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
    # A match inside another word counts less.
    whole = r"\b{}(?:s|ed|ing)?\b"
    return {one: 1.0 if re.search(whole.format(re.escape(stem(one))), line, re.I) else 0.4 for one in (*there, word)}


def _group_consecutive(numbers: Iterable[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _score(path: str, numbers: Sequence[int], hits: LineHits, weights: Mapping[str, float]) -> float:
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


def _make_passage(path: str, numbers: Sequence[int], lines: Mapping[int, str], hits: LineHits) -> Passage:
    """The lines, or, if there are many, those from just before the best one."""
    start = 0
    if len(numbers) > _MAX_PASSAGE_LINES:
        richest = max(range(len(numbers)), key=lambda place: sum(hits.get(numbers[place], {}).values()))
        start = max(0, min(richest - 2, len(numbers) - _MAX_PASSAGE_LINES))
    kept = numbers[start : start + _MAX_PASSAGE_LINES]
    return Passage(path, kept[0], tuple(lines[number][:_MAX_LINE_LENGTH] for number in kept))
