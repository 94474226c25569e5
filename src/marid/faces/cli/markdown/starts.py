"""How a line begins: what it stands in (quotes, list items) and what kind of line it is."""

from dataclasses import dataclass
from enum import Enum

LONGEST_START = 1000  # characters in which a line must show what it is; else it is text

_DEEPEST = 16
_TAB = 4
_BLANKS = " \t"
_LONGEST_HEADING = 6
_SHORTEST_FENCE = 3


class Kind(Enum):
    """What a line is, apart from what it stands in."""

    TEXT = "text"
    BLANK = "blank"
    RULE = "rule"
    HEADING = "heading"
    FENCE = "fence"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, repr=False)
class Container:
    """A quote, or a list item whose marker (as it is shown) stands in this column."""

    column: int
    marker: str = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # each method that is made costs at import
class Start:
    """A line whose kind is known: its text begins at `at`; the containers from `fresh` on began on this line."""

    kind: Kind
    containers: tuple[Container, ...]
    fresh: int
    at: int
    column: int = 0


class _Undecided(Exception):  # not an error: what follows decides
    pass


def read_start(text: str, containers: tuple[Container, ...], before: Kind, *, complete: bool) -> Start | None:
    """How the line begins, if `text` is enough to tell. A complete text always is, and a full one must be."""
    try:
        return _Reader(text, complete=complete or len(text) >= LONGEST_START).read(containers, before)
    except _Undecided:
        return None


def dedented(text: str, columns: int) -> str:
    """`text` without blanks that make up its first columns."""
    at = column = 0
    while at < len(text) and column < columns and text[at] in _BLANKS:
        column += _TAB - column % _TAB if text[at] == "\t" else 1
        at += 1
    return text[at:]


class _Reader:
    def __init__(self, text: str, *, complete: bool) -> None:
        self.text = text
        self.complete = complete
        self.at = 0
        self.column = 0

    def read(self, containers: tuple[Container, ...], before: Kind) -> Start:
        inside: list[Container] = []
        for container in containers:
            if not self._continues(container):
                break
            inside.append(container)
        fresh = len(inside)
        base = self.at, self.column
        while len(inside) < _DEEPEST and not self._is_code(inside, before, base[1]):
            started = self._container()
            if started is None:
                break
            inside.append(started)
            base = self.at, self.column
        kind = self._kind(inside, before, base[1])
        at, column = base if kind is Kind.CODE else (self.at, self.column)
        if kind is Kind.BLANK and any(container.marker for container in inside[fresh:]):
            kind = Kind.TEXT
        return Start(kind=kind, containers=tuple(inside), fresh=fresh, at=at, column=column)

    def _continues(self, container: Container) -> bool:
        """The line goes on inside this container; what belongs to it is passed only then."""
        here = self.at, self.column
        char = self._skip_blanks()
        if not container.marker and char == ">":
            return self._quote()
        inside = container.marker != "" and (char == "" or self.column > container.column)
        self.at, self.column = here
        return inside

    def _container(self) -> Container | None:
        char = self._skip_blanks()
        column = self.column
        if char == ">":
            self._quote()
            return Container(column)
        marker = "" if self._is_rule() else self._marker()
        return Container(column, marker + self._box(marker)) if marker else None

    def _quote(self) -> bool:
        self._step(1)
        if self._peek() == " ":
            self._step(1)
        return True

    def _marker(self) -> str:
        """The marker of a list item as it is shown; stays before it if there is none."""
        char = self._peek()
        if char and char in "-*+":
            end = self.at + 1
        else:
            end = self.at
            while end - self.at < 9 and self._char(end) in tuple("0123456789"):
                end += 1
            if end == self.at or self._char(end) not in (".", ")"):
                return ""
            end += 1
        if self._char(end) not in ("", " ", "\t"):
            return ""
        marker = self.text[self.at : end]
        self._step(end - self.at)
        return "•" if marker in ("-", "*", "+") else marker

    def _box(self, marker: str) -> str:
        """What a task adds to its marker."""
        if self._skip_blanks() != "[":
            return ""
        box = "".join(self._char(self.at + place) for place in range(4))
        if box[:3] not in ("[ ]", "[x]", "[X]") or box[3:].strip():
            return ""
        self._step(3)
        return " " + box[:3].lower()

    def _is_code(self, inside: list[Container], before: Kind, base: int) -> bool:
        """Indented by four, after code as long as it goes on, else after a blank line unless a list begins there."""
        here = self.at, self.column
        char = self._skip_blanks()
        deep = char != "" and self.column - base >= _TAB and not any(container.marker for container in inside)
        listed = deep and before is Kind.BLANK and not self._is_rule() and self._marker() != ""
        self.at, self.column = here
        return deep and not listed and before in (Kind.CODE, Kind.BLANK)

    def _is_rule(self) -> bool:
        rest = self.text[self.at :]
        if not rest or rest[0] not in "-*_" or rest.strip(rest[0] + _BLANKS):
            return False
        if not self.complete:
            raise _Undecided
        return rest.count(rest[0]) >= 3 and len(self.text) < LONGEST_START

    def _kind(self, inside: list[Container], before: Kind, base: int) -> Kind:
        if self._is_code(inside, before, base):
            return Kind.CODE
        char = self._skip_blanks()
        if char == "":
            return Kind.BLANK
        if char in "#`~":
            return self._run_kind(char)
        if char == "|":
            return Kind.ROW
        return Kind.RULE if self._is_rule() else Kind.TEXT

    def _run_kind(self, char: str) -> Kind:
        most = _LONGEST_HEADING if char == "#" else _SHORTEST_FENCE
        length = 0
        while length < most and self._char(self.at + length) == char:
            length += 1
        if char != "#":
            return Kind.FENCE if length == most else Kind.TEXT
        return Kind.HEADING if self._char(self.at + length) in ("", " ", "\t") else Kind.TEXT

    def _skip_blanks(self) -> str:
        """Go to the next character that is no blank, and give it; "" at the end of the line."""
        rest = self.text[self.at :]
        self._step(len(rest) - len(rest.lstrip(_BLANKS)))
        return self._peek()

    def _step(self, count: int) -> None:
        """Go on; done without a loop, since an undecided start is read again with every fragment."""
        passed = " " * self.column + self.text[self.at : self.at + count]
        self.column = len(passed.expandtabs(_TAB))
        self.at += count

    def _peek(self) -> str:
        return self._char(self.at)

    def _char(self, place: int) -> str:
        if place < len(self.text):
            return self.text[place]
        if not self.complete:
            raise _Undecided
        return ""
