"""Which marks of emphasis belong together: a run of marks closes the nearest run that it fits."""

BOLD, ITALIC, STRIKE, LINK = range(4)
LOOKS = ("1", "3", "9", "4")

_KINDS = {1: (ITALIC,), 2: (BOLD,), 3: (BOLD, ITALIC)}
_LONGEST = 3


class Token:
    """A piece of a line whose look is not settled yet: text, then what is turned on (1) or off (-1) after it."""

    __slots__ = ("exact", "look", "text", "turns")

    def __init__(self, text: str, look: str = "", *, exact: bool = False) -> None:
        self.text = text
        self.look = look
        self.exact = exact
        self.turns: list[tuple[int, int]] = []


def can_open(mark: str, before: str, after: str) -> bool:
    """A run of marks between these characters may begin emphasis."""
    if len(mark) > _LONGEST or after.isspace() or (mark[0] == "~" and len(mark) != 2):
        return False
    if mark[0] == "_":
        return not (before.isalnum() or before == "_")
    return not (mark == "*" and _is_product(before, after))


def can_close(mark: str, before: str, after: str) -> bool:
    """A run of marks between these characters may end emphasis."""
    if len(mark) > _LONGEST or before.isspace() or (mark[0] == "~" and len(mark) != 2):
        return False
    if mark[0] == "_":
        return not (after.isalnum() or after == "_")
    return not (mark == "*" and _is_product(before, after))


def _is_product(before: str, after: str) -> bool:
    """As in 2*3: between plain letters and digits a single star is arithmetic more often than emphasis."""
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


class Emphasis:
    """The runs that are open, each kind on its own pile, by their place among the tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._open: dict[str, list[int]] = {}

    def __bool__(self) -> bool:
        return any(self._open.values())

    def open(self, mark: str) -> None:
        """The last token is a run that something later may close."""
        self._open.setdefault(mark, []).append(len(self._tokens) - 1)

    def close(self, mark: str) -> int:
        """Close what this run fits, turning its look off on a token of its own: where it began, or -1."""
        start = self._nearest(mark)
        triple = self._nearest(mark[0] * _LONGEST)
        if len(mark) < _LONGEST and triple > start:
            return self._split(triple, mark)
        if start >= 0:
            return self._match(mark, start)
        return self._close_both(mark[0]) if len(mark) == _LONGEST else -1

    def drop_from(self, place: int) -> None:
        """Runs from this place on stay as they are written."""
        for places in self._open.values():
            while places and places[-1] >= place:
                places.pop()

    def clear(self) -> None:
        """Nothing is open any more."""
        self._open.clear()

    def _nearest(self, mark: str) -> int:
        places = self._open.get(mark)
        return places[-1] if places else -1

    def _match(self, mark: str, start: int) -> int:
        self.drop_from(start)
        self._tokens[start].text = ""
        return self._turn(mark, start)

    def _split(self, start: int, mark: str) -> int:
        """One or two of three marks are closed; the others stay open."""
        self.drop_from(start)
        rest = mark[0] * (_LONGEST - len(mark))
        self._tokens[start].text = rest
        self._open.setdefault(rest, []).append(start)
        return self._turn(mark, start)

    def _close_both(self, char: str) -> int:
        """Three marks close one and two that were opened apart."""
        one, two = self._nearest(char), self._nearest(char * 2)
        if one < 0 or two < 0:
            return -1
        self._match(char if one > two else char * 2, max(one, two))
        return self._match(char if one < two else char * 2, min(one, two))

    def _turn(self, mark: str, start: int) -> int:
        end = Token("")
        for kind in (STRIKE,) if mark[0] == "~" else _KINDS[len(mark)]:
            self._tokens[start].turns.append((kind, 1))
            end.turns.append((kind, -1))
        self._tokens.append(end)
        return start
