"""Escape control characters in streamed text for a terminal."""

from marid.text.display import escape_text

_JOINERS = "\u200c\u200d"


class EscapeGuard:
    """Takes text in fragments. Line endings become newlines; tabs and all kinds of spaces stay."""

    def __init__(self) -> None:
        self._before = " "
        self._return = False

    def feed(self, text: str) -> str:
        """Return the escaped text; a carriage return at its end is held until the next character."""
        if self._return:
            text = "\r" + text
        self._return = text.endswith("\r")
        if self._return:
            text = text[:-1]
        if not text:
            return ""
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        shown: list[str] = []
        for line in text.split("\n"):
            shown.append(line if line.isprintable() else self._escape_line(line))
            self._before = "\n"
        self._before = text[-1]
        return "\n".join(shown)

    def end(self) -> str:
        """Return what is held."""
        held = "\\r" if self._return else ""
        self._before, self._return = " ", False
        return held

    def _escape_line(self, line: str) -> str:
        out: list[str] = []
        before = self._before
        for char in line:
            # Emoji and several scripts need joiners; between ASCII letters they only hide text.
            stays = char == "\t" or char.isprintable() or (char in _JOINERS and not before.isascii()) or _is_space(char)
            out.append(char if stays else escape_text(char))
            before = char
        return "".join(out)


def _is_space(char: str) -> bool:
    import unicodedata

    return unicodedata.category(char) == "Zs"
