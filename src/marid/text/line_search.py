"""Search lines: patterns and the literals they require, hits, and excerpts around them."""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from marid.core.errors import BadInput, Exhausted
from marid.text.decode import decode_text

MAX_PATTERN_LENGTH = 5_000
MAX_LINE_LENGTH = 500
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_MAX_LITERALS = 16
_ONE_LINE = "the pattern contains a line end: a match lies within one line"
_ESCAPES = {r"\n": "\n", r"\t": "\t"}
# The syntax of `re`, as coarsely as finding the literals at its top level needs it.
_TOKEN = re.compile(
    r"""
      \\(?P<escape>.)
    | (?P<skip>\[\^?\]?(?:\\.|[^\]\\])*\] | \(\?\#[^)]*\) | [.^$])
    | (?P<quantifier>[?*+] | \{[\d,]*\}?)
    | (?P<open>\() | (?P<close>\)) | (?P<bar>\|)
    | (?P<char>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class LinePattern(NamedTuple):
    """A regular expression that is matched against single lines.

    Every match contains one of `required_literals` (empty: none are known), in lower case if `caseless`. A pattern
    with `is_literal` was made from plain text: it runs in linear time and needs no worker.
    """

    source: str
    required_literals: tuple[str, ...] = ()
    caseless: bool = False
    is_literal: bool = False


def try_literal_pattern(source: str) -> LinePattern | None:
    """The pattern, if it has no special characters and so needs no parsing.

    Raises: BadInput for an empty or overlong pattern, or one with a line end.
    """
    if not source:
        raise BadInput("the pattern is empty")
    if len(source) > MAX_PATTERN_LENGTH:
        raise BadInput(f"the pattern is longer than {MAX_PATTERN_LENGTH:,} characters")
    return None if _SPECIAL.search(source) else literal_pattern(source)


def literal_pattern(text: str, *, word: bool = False) -> LinePattern:
    """A pattern that finds exactly this text; with `word`, not inside a longer word.

    Raises: BadInput for text with a line end.
    """
    if "\n" in text:
        raise BadInput(_ONE_LINE)
    source = re.escape(text)
    if word:
        # The literal comes first: that is what makes it fast.
        after = r"(?!\w)" if re.match(r"\w", text[-1]) else ""
        source += after + (rf"(?<!\w{source})" if re.match(r"\w", text[0]) else "")
    return LinePattern(source=source, required_literals=(text,), is_literal=True)


def parse_pattern(source: str) -> LinePattern:
    """Compile the pattern and find its literals; run it in a worker. Raises: BadInput with the position of an error."""
    flags = compile_pattern(source).flags
    if flags & re.VERBOSE:
        return LinePattern(source=source)
    caseless = bool(flags & re.IGNORECASE)
    branches = _literal_runs(source)
    if any("\n" in run for runs in branches for run in runs):
        raise BadInput(_ONE_LINE)
    literals = tuple(max(runs, key=len) for runs in branches)
    if not caseless and len(branches) == 1 and re.sub(r"\\(\W)", r"\1", source) == literals[0]:
        return literal_pattern(literals[0])
    if not all(literals) or len(literals) > _MAX_LITERALS:
        literals = ()
    if caseless:
        literals = tuple(literal.lower() for literal in literals)
    return LinePattern(source=source, required_literals=literals, caseless=caseless)


def compile_pattern(source: str) -> "re.Pattern[str]":
    """The pattern, ready to run. Raises: BadInput with the position of an error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(source, re.MULTILINE)
    except re.error as error:
        position = "" if error.pos is None else f" at character {error.pos + 1}"
        raise BadInput(f"invalid pattern: {error.msg}{position}") from error
    except (RecursionError, OverflowError) as error:
        raise BadInput("invalid pattern: it is nested too deeply or counts too far") from error


def _literal_runs(source: str) -> list[list[str]]:
    """For each alternative at the top level of a valid pattern, runs of ASCII characters that its matches contain.

    What is inside a group or may be absent is left out: a missing run costs time, a wrong one would hide matches.
    """
    branches = [[""]]
    depth = 0
    for token in _TOKEN.finditer(source):
        kind, text = token.lastgroup, token[0]
        runs = branches[-1]
        if kind == "escape" and token["escape"] in "xuUN0123456789":
            return [[""]]  # the characters after it are part of the escape
        if kind in ("open", "close"):
            depth += 1 if kind == "open" else -1
            runs.append("")
        elif depth:
            continue
        elif kind == "bar":
            branches.append([""])
        elif kind == "quantifier":
            runs[-1:] = [runs[-1][:-1], ""]
        elif char := _literal_char(kind, text):
            runs[-1] += char
        else:
            runs.append("")
    return branches


def _literal_char(kind: str | None, text: str) -> str:
    """The ASCII character that a token stands for, if it is just one."""
    if kind == "escape":
        char = _ESCAPES.get(text, "" if text[1].isalnum() else text[1])
    else:
        char = text if kind == "char" else ""
    return char if char.isascii() else ""


class LineHit(NamedTuple):
    """A matching line, from 1, and the column where the first match starts, from 0."""

    line: int
    column: int


def find_hits(pattern: LinePattern, texts: Sequence[bytes], max_hits: int) -> list[list[LineHit]]:
    """The hits in each text, at most `max_hits` in all.

    Raises: BadInput for an invalid pattern, Exhausted for one that needs too much memory.
    """
    search = compile_pattern(pattern.source).search
    may_match = _literal_check(pattern)
    found: list[list[LineHit]] = []
    try:
        for data in texts:
            hits = (
                LineHit(number, match.start())
                for number, line in enumerate(_decode_lines(data), 1)
                if may_match(line) and (match := search(line))
            )
            found.append(list(islice(hits, max_hits)))
            max_hits -= len(found[-1])
    except MemoryError as error:
        raise Exhausted("the pattern needs too much memory") from error
    return found


def _literal_check(pattern: LinePattern) -> Callable[[str], object]:
    """A check whether a line contains a required literal, which is much cheaper than the pattern."""
    match () if pattern.caseless else pattern.required_literals:
        case ():
            return lambda line: True
        case (literal,):
            return lambda line: literal in line
        case literals:
            return re.compile("|".join(map(re.escape, literals))).search


def _decode_lines(data: bytes) -> list[str]:
    """The lines of a file without their endings, so that `$` matches; none for a binary file."""
    found = decode_text(data)
    return found.text.replace("\r\n", "\n").removesuffix("\n").split("\n") if found and found.text else []


class ExcerptLine(NamedTuple):
    """One line to show, without its ending."""

    number: int
    text: str
    is_hit: bool


def excerpt_groups(data: bytes, hits: Sequence[LineHit], before: int, after: int) -> Iterator[list[ExcerptLine]]:
    """The hits with the lines around them; adjacent groups are merged and long lines cut."""
    if not hits:
        return
    lines = data.split(b"\n", hits[-1].line + after)
    if len(lines) > hits[-1].line + after or not lines[-1]:
        lines.pop()
    columns = {hit.line: hit.column for hit in hits}
    group: list[ExcerptLine] = []
    for hit in hits:
        first = max(1, hit.line - before)
        if group and first > group[-1].number + 1:
            yield group
            group = []
        for number in range(group[-1].number + 1 if group else first, min(len(lines), hit.line + after) + 1):
            # Only this line: decoding whole files again would take longer than the search.
            decoded = decode_text(line := lines[number - 1])
            text = (decoded.text if decoded else line.decode("latin-1")).removesuffix("\r")
            group.append(ExcerptLine(number, clip_line(text, columns.get(number, 0)), number in columns))
    yield group


def clip_line(text: str, column: int = 0) -> str:
    """The text, or the part of a very long line around `column`."""
    if len(text) <= MAX_LINE_LENGTH:
        return text
    start = max(0, min(column - MAX_LINE_LENGTH // 4, len(text) - MAX_LINE_LENGTH))
    end = start + MAX_LINE_LENGTH
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def render_groups(groups: Sequence[list[ExcerptLine]], line: Callable[[ExcerptLine], str], *, separate: bool) -> str:
    """The lines, each formatted by `line`; with `separate`, `--` between the groups."""
    return ("\n--\n" if separate else "\n").join("\n".join(map(line, group)) for group in groups)
