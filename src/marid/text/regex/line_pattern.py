"""What can be known of a regular expression without running it: texts that every match holds, and where it stays."""

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from marid.core.errors import BadInput

MAX_PATTERN_LENGTH = 5_000
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_MAX_LITERALS = 16
_TOO_DEEP = "invalid pattern: it is nested too deeply or counts too far"
_ONE_LINE = "a match lies within one line: the pattern may not hold a line end"
# One step of what Python's own parser makes of a pattern: the name of an operation, and what it works on.
Step: TypeAlias = tuple[Any, Any]
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
WITHOUT_LENGTH = ("AT", "ASSERT", "ASSERT_NOT")


@dataclass(frozen=True, kw_only=True)
class LinePattern:
    """A regular expression that is matched against single lines.

    Every match holds one of `needles` (none known: empty); `caseless` ones are in lower case. No match of a pattern
    that is `inline` can reach over the end of a line, so that a whole text may be searched at once. A pattern that is
    `ours` was made of a literal: it takes no longer than reading does, and may run anywhere.
    """

    source: str
    required_literals: tuple[str, ...] = ()
    caseless: bool = False
    within_line: bool = False
    is_literal: bool = False


def try_literal_pattern(source: str) -> LinePattern | None:
    """The pattern, if it has no special characters, so that nothing needs to be parsed.

    Raises: BadInput for an empty or overlong pattern and for one with a line end, which no line holds.
    """
    if not source:
        raise BadInput("the pattern is empty")
    if len(source) > MAX_PATTERN_LENGTH:
        raise BadInput(f"the pattern is longer than {MAX_PATTERN_LENGTH:,} characters")
    if _SPECIAL.search(source):
        return None
    return literal_pattern(source)


def literal_pattern(text: str, *, word: bool = False) -> LinePattern:
    """A pattern that finds just this text; as a `word`, its letters and digits must not go on at either end.

    Raises: BadInput for one with a line end, which no line holds.
    """
    if "\n" in text:
        raise BadInput(_ONE_LINE)
    source = re.escape(text)
    if word:
        # The literal stands in front: that is what makes it fast.
        after = r"(?!\w)" if _is_word_char(text[-1]) else ""
        source += after + (rf"(?<!\w{source})" if _is_word_char(text[0]) else "")
    return LinePattern(source=source, required_literals=(text,), within_line=True, is_literal=True)


def _is_word_char(char: str) -> bool:
    return char.isalnum() or char == "_"


def parse_pattern(source: str) -> LinePattern:
    """The pattern, parsed: work for a worker. Raises: BadInput that says where it is wrong."""
    steps, flags = parse_steps(source)
    try:
        return _analyse(source, steps, flags)
    except RecursionError as error:
        raise BadInput(_TOO_DEEP) from error


def parse_steps(source: str) -> tuple[list[Step], re.RegexFlag]:
    """The steps of a pattern and the flags that hold for all of it. Raises: BadInput that says where it is wrong."""
    compile_pattern(source)
    parser: Any = import_module("re._parser")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = parser.parse(source)
    return list(found), re.RegexFlag(found.state.flags)


def _analyse(source: str, steps: list[Step], flags: re.RegexFlag) -> LinePattern:
    caseless = bool(flags & re.IGNORECASE)
    text = _single_literal(steps)
    if text is not None and not caseless:
        return literal_pattern(text)
    needles = _required_literals(steps)
    if any("\n" in needle for needle in needles):
        raise BadInput(_ONE_LINE)
    return LinePattern(
        source=source,
        required_literals=tuple(needle.lower() if caseless else needle for needle in needles),
        caseless=caseless,
        within_line=not flags & re.DOTALL and _stays_inline(steps),
    )


def compile_pattern(source: str) -> "re.Pattern[str]":
    """The pattern, ready to run. Raises: BadInput that says where it is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(source, re.MULTILINE)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise BadInput(f"invalid pattern: {error.msg}{place}") from error
    except (RecursionError, OverflowError) as error:
        raise BadInput(_TOO_DEEP) from error


def _single_literal(steps: Sequence[Step]) -> str | None:
    """The one text that these steps match, if there is only one."""
    chars: list[str] = []
    for op, what in steps:
        if str(op) == "LITERAL":
            chars.append(chr(what))
        elif (inner := _group_steps(op, what)) is not None and (text := _single_literal(inner)) is not None:
            chars.append(text)
        else:
            return None
    return "".join(chars) or None


def _group_steps(op: Any, what: Any) -> list[Step] | None:
    """The steps in a group that is passed exactly once, under the same flags."""
    if str(op) == "ATOMIC_GROUP":
        return list(what)
    if str(op) == "SUBPATTERN" and not what[1] and not what[2]:
        return list(what[3])
    return None


def _required_literals(steps: Sequence[Step]) -> tuple[str, ...]:
    """Texts of which every match holds at least one; the longer the shortest of them is, the better."""
    runs = [""]
    choices: list[tuple[str, ...]] = []
    _collect_literals(steps, runs, choices)
    found = [*choices, *((run,) for run in runs if run)]
    return max(found, key=lambda needles: min(map(len, needles)), default=())


def _collect_literals(steps: Iterable[Step], runs: list[str], choices: list[tuple[str, ...]]) -> None:
    """Add to the last of `runs` what must follow it, begin a new one after whatever may vary."""
    for op, what in steps:
        name = str(op)
        if name in WITHOUT_LENGTH:
            continue
        if (inner := _group_steps(op, what)) is not None:
            _collect_literals(inner, runs, choices)
        elif name == "LITERAL" and what < 128:
            runs[-1] += chr(what)
        else:
            runs.append("")
            choices += _inner_literals(name, what)


def _inner_literals(name: str, what: Any) -> list[tuple[str, ...]]:
    """The needles inside of something that is repeated or is one of several."""
    if name in REPEATS and what[0] > 0:
        found = _required_literals(list(what[2]))
        return [found] if found else []
    if name == "BRANCH":
        each = [_required_literals(list(branch)) for branch in what[1]]
        every = tuple(needle for needles in each for needle in needles)
        return [every] if all(each) and len(every) <= _MAX_LITERALS else []
    return []


def _stays_inline(steps: Iterable[Step]) -> bool:
    return all(_step_stays_inline(str(op), what) for op, what in steps)


def _step_stays_inline(name: str, what: Any) -> bool:
    """Whether this can match no line end, and means the same in a text as in a line of it."""
    if (inner := _nested_steps(name, what)) is not None:
        return all(map(_stays_inline, inner))
    match name:
        case "LITERAL":
            return what != 10
        case "NOT_LITERAL":
            return what == 10
        case "IN":
            return not _set_holds_line_end(what)
        case "AT":
            return not str(what).endswith("_STRING")
        case _:
            return name in ("ANY", "GROUPREF")


def _nested_steps(name: str, what: Any) -> list[list[Step]] | None:
    """The sequences of steps that this one holds."""
    if name in REPEATS:
        return [list(what[2])]
    if name == "BRANCH":
        return [list(branch) for branch in what[1]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [list(what[1])]
    inner = _group_steps(name, what)
    return None if inner is None else [inner]


def _set_holds_line_end(members: Sequence[Step]) -> bool:
    negated = bool(members) and str(members[0][0]) == "NEGATE"
    holds = any(member_is_in(str(op), what, 10) for op, what in members[negated:])
    return holds != negated


def member_is_in(name: str, what: Any, char: int) -> bool:
    """Whether a character of ASCII is in one member of a set, case aside."""
    match name:
        case "LITERAL":
            return what == char
        case "RANGE":
            return what[0] <= char <= what[1]
        case _:
            return _is_in_category(str(what), chr(char))


def _is_in_category(name: str, char: str) -> bool:
    kind = name.removeprefix("CATEGORY_").removeprefix("NOT_")
    held = {"DIGIT": char.isdigit, "SPACE": char.isspace, "WORD": lambda: _is_word_char(char)}[kind]()
    return held != ("NOT_" in name)
