"""The marks inside a line: emphasis, code, links, images, footnotes, escapes; held only while they are open."""

import re
from typing import Protocol

from marid.faces.cli.markdown.atoms import LONGEST_FOOTNOTE, LONGEST_TAG, footnote_end, tag_end
from marid.faces.cli.markdown.emphasis import LINK, LOOKS, Emphasis, Token, can_close, can_open
from marid.faces.cli.markdown.style import Style, background, foreground
from marid.faces.cli.markdown.targets import LONGEST_TARGET, NO_TARGET, target_at
from marid.faces.cli.markdown.waits import UntilAny, UntilOther, UntilTicks, Wait

MOST_HELD = 100_000  # characters that wait for a mark to be closed; then they come out as they are

_SPECIAL = re.compile(r"[\\`*_~\[\]!<]")
_TICKS = re.compile("`+")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_MOST_EMPTY = 16


class Put(Protocol):
    """Takes settled text in its look."""

    def __call__(self, text: str, look: str = "", *, exact: bool = False) -> None: ...


class Spans:
    """Reads one line after the other, in any fragments, and puts its text as soon as its look is settled."""

    def __init__(self, put: Put, style: Style) -> None:
        self._put = put
        self._style = style
        self._raw = ""
        self._at = 0
        self._later: list[str] = []  # came while `_wait` says that it settles nothing
        self._wait: Wait | None = None
        self._before = " "
        self._held = 0
        self._tokens: list[Token] = []
        self._emphasis = Emphasis(self._tokens)
        self._brackets: list[int] = []
        self._ticks: dict[int, list[int]] | None = None

    def feed(self, text: str) -> None:
        """More of the line."""
        start = 0
        while start < len(text):
            piece = text[start : start + MOST_HELD - self._held]
            start += len(piece)
            self._held += len(piece)
            self._later.append(piece)
            if self._wait is None or self._wait.is_over(piece):
                self._join()
                self._read(final=False)
            if self._held == MOST_HELD:
                self._settle()

    def end(self) -> None:
        """The line is over: marks still open are text."""
        self._settle()
        self._before = " "

    def _join(self) -> None:
        if self._at:
            self._before = self._raw[self._at - 1]
        self._raw = self._raw[self._at :] + "".join(self._later)
        self._at = 0
        self._later.clear()
        self._wait = None

    def _settle(self) -> None:
        self._join()
        self._ticks = None
        self._read(final=True)
        self._ticks = None
        self._emphasis.clear()
        self._brackets.clear()
        self._flush()

    def _read(self, *, final: bool) -> None:
        while self._at < len(self._raw):
            special = _SPECIAL.search(self._raw, self._at)
            stop = special.start() if special else len(self._raw)
            if stop > self._at:
                self._text(stop)
            elif not self._mark(self._raw[stop], final=final):
                break
            if not self._brackets and not self._emphasis:
                self._flush()

    def _mark(self, char: str, *, final: bool) -> bool:
        """Read one mark; False if what follows may still change it."""
        match char:
            case "`":
                return self._code(final=final)
            case "*" | "_" | "~":
                return self._marks(final=final)
            case "[":
                return self._bracket(final=final)
            case "]":
                return self._link(final=final)
            case "<":
                return self._tag(final=final)
            case _:
                return self._pair(char, final=final)

    def _flush(self) -> None:
        depth = [0] * len(LOOKS)
        for token in self._tokens:
            if token.text:
                looks = [look for look, deep in zip(LOOKS, depth, strict=True) if deep]
                self._put(token.text, ";".join((*looks, token.look) if token.look else looks), exact=token.exact)
            for kind, step in token.turns:
                depth[kind] += step
        self._tokens.clear()
        self._held = len(self._raw) - self._at

    def _text(self, stop: int) -> bool:
        """Up to here it is nothing but text."""
        self._tokens.append(Token(self._raw[self._at : stop]))
        self._at = stop
        return True

    def _hold(self, wait: Wait, start: int) -> bool:
        """Read on only when the wait is over; from `start` on it has seen all that came."""
        wait.is_over(self._raw[start:])
        self._wait = wait
        return False

    def _pair(self, char: str, *, final: bool) -> bool:
        """A backslash or an exclamation mark: the next character says what it is."""
        after = self._raw[self._at + 1 : self._at + 2]
        if not after and not final:
            return False
        if char == "!" and after == "[":
            return self._open("![")
        if char == "\\" and after and after in _PUNCTUATION:
            self._at += 1
        return self._text(self._at + 1)

    def _marks(self, *, final: bool) -> bool:
        mark, end = self._run()
        if end == len(self._raw) and not final:
            return self._hold(UntilOther(mark[0]), end)
        before = self._raw[self._at - 1] if self._at else self._before
        after = self._raw[end : end + 1] or " "
        start = self._emphasis.close(mark) if can_close(mark, before, after) else -1
        if start < 0:
            self._tokens.append(Token(mark))
            if can_open(mark, before, after):
                self._emphasis.open(mark)
        else:
            # What began inside cannot be the text of a link that ends outside.
            while self._brackets and self._brackets[-1] > start:
                self._brackets.pop()
        self._at = end
        return True

    def _run(self) -> tuple[str, int]:
        char, end = self._raw[self._at], self._at + 1
        while self._raw.startswith(char, end):
            end += 1
        return self._raw[self._at : end], end

    def _code(self, *, final: bool) -> bool:
        mark, end = self._run()
        if end == len(self._raw) and not final:
            return self._hold(UntilOther("`"), end)
        stop = self._closing_ticks(len(mark), end, final=final)
        if stop >= 0:
            code = self._raw[end:stop]
            if code.strip(" ") and code[0] == code[-1] == " ":
                code = code[1:-1]
            self._tokens.append(Token(code, background(self._style.code_bg), exact=True))
            self._at = stop + len(mark)
            return True
        return self._text(end) if final else self._hold(UntilTicks(len(mark)), end)

    def _closing_ticks(self, length: int, start: int, *, final: bool) -> int:
        """Where the next run of this length begins; -1 if there is none yet."""
        if final:
            return self._known_ticks(length, start)
        for run in _TICKS.finditer(self._raw, start):
            if len(run[0]) == length and run.end() < len(self._raw):
                return run.start()
        return -1

    def _known_ticks(self, length: int, start: int) -> int:
        """The same when nothing follows: the runs are listed once, else many lone ones would each search to the end."""
        if self._ticks is None:
            self._ticks = {}
            for run in reversed(list(_TICKS.finditer(self._raw, start))):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        places = self._ticks.get(length, [])
        while places and places[-1] < start:
            places.pop()
        return places[-1] if places else -1

    def _tag(self, *, final: bool) -> bool:
        end = tag_end(self._raw, self._at)
        if end is None and not final:
            return len(self._raw) - self._at > 1 and self._hold(UntilAny("<>", LONGEST_TAG), self._at)
        return self._text(end or self._at + 1)

    def _bracket(self, *, final: bool) -> bool:
        end = footnote_end(self._raw, self._at)
        if end is None and not final:
            return len(self._raw) - self._at > 1 and self._hold(UntilAny(" \t[]^", LONGEST_FOOTNOTE), self._at)
        if not end:
            return self._open("[")
        self._tokens.append(Token(f"[{self._raw[self._at + 2 : end]}", foreground(self._style.footnote)))
        self._at = end
        return True

    def _open(self, mark: str) -> bool:
        self._brackets.append(len(self._tokens))
        return self._text(self._at + len(mark))

    def _link(self, *, final: bool) -> bool:
        after = self._raw[self._at + 1 : self._at + 2]
        if not after and not final:
            return False
        target = target_at(self._raw, self._at + 1) if self._brackets and after == "(" else NO_TARGET
        if target is None and not final:
            return self._hold(UntilAny(") \t", LONGEST_TARGET + 1), self._at)
        start = self._brackets.pop() if self._brackets else 0
        address, end = target or NO_TARGET
        if not end:
            return self._text(self._at + 1)
        self._lead(start, address)
        self._at = end
        return True

    def _lead(self, start: int, address: str) -> None:
        """The tokens from the bracket on are the text of a link or an image: show where it leads."""
        self._emphasis.drop_from(start)
        opener, end = self._tokens[start], Token("")
        same = self._reads(start + 1, address)
        if opener.text == "![":
            opener.text, opener.look = "[image] ", foreground(self._style.image_marker)
        else:
            opener.text = ""
        opener.turns.append((LINK, 1))
        end.turns.append((LINK, -1))
        self._tokens.append(end)
        if address and not same:
            url = Token(address, foreground(self._style.link_url))
            self._tokens.extend((Token(" ("), url, Token(")")))

    def _reads(self, start: int, address: str) -> bool:
        """The tokens from here on read like this; given up early, since links may be nested without end."""
        at = empty = 0
        for place in range(start, len(self._tokens)):
            text = self._tokens[place].text
            empty += not text
            if empty > _MOST_EMPTY or not address.startswith(text, at):
                return False
            at += len(text)
        return at == len(address)
