"""Web pages as a model reads them: text with headings, lists and links, without scripts and decoration."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser

from marid.core.errors import BadInput
from marid.ports.web import Target
from marid.text.charsets import page_text
from marid.text.urls import joined

_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg", "iframe", "object", "canvas", "select"))
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "form", "fieldset", "figure"),
        *("ul", "ol", "dl", "dt", "dd", "table", "tr", "blockquote", "address", "details", "summary", "hr", "body"),
    )
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLANKS = re.compile(r"\s+")
LONGEST_TITLE = 300


@dataclass(frozen=True, kw_only=True)
class Readable:
    """The text of a page and its title, which may be empty."""

    title: str
    text: str


def readable(data: bytes, charset: str, at: Target, *, whole: bool = True) -> Readable:
    """What a person would read on the page; links are made absolute. Raises: Refused for what is binary."""
    reader = _Reader(at)
    reader.feed(page_text(data, charset, whole=whole))
    reader.close()
    return reader.done()


class Elements(HTMLParser):
    """A parser that remembers whether it is inside of something that is not seen."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._unseen = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Counts the unseen, passes the rest on."""
        if self._unseen:
            self._depth += tag == self._unseen
        elif tag in _UNSEEN:
            self._unseen, self._depth = tag, 1
        else:
            self.opened(tag, {name: value or "" for name, value in attrs})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<svg/>` hides nothing that follows."""
        if tag not in _UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Counts the unseen, passes the rest on."""
        if self._unseen:
            self._depth -= tag == self._unseen
            self._unseen = self._unseen if self._depth else ""
        else:
            self.closed(tag)

    def handle_data(self, data: str) -> None:
        """Passes on what is seen."""
        if not self._unseen:
            self.said(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """`<![if x]>` and the like: a comment to a browser, an error to older versions of the library."""
        return self.parse_bogus_comment(i)

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        """A seen element begins."""

    def closed(self, tag: str) -> None:
        """A seen element ends."""

    def said(self, text: str) -> None:
        """Seen text."""


def one_line(text: str, longest: int) -> str:
    """The text on one line, without what moves a cursor or turns the direction of reading, not too long."""
    plain = _BLANKS.sub(" ", "".join(char if char.isprintable() else " " for char in text)).strip()
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


class _Reader(Elements):
    def __init__(self, at: Target) -> None:
        super().__init__()
        self._at = at
        self._lines: list[str] = []
        self._line: list[str] = []
        self._title: list[str] | None = None
        self._titled: list[str] = []
        self._verbatim = 0
        self._link = ""
        self._link_from = 0

    def done(self) -> Readable:
        """What was read."""
        self._break()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")
        return Readable(title=one_line("".join(self._titled), LONGEST_TITLE), text=text)

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "title":
            self._title = self._titled
        elif tag == "a":
            self._end_link()
            self._link, self._link_from = self._absolute(attributes.get("href", "")), len(self._line)
        elif tag in ("td", "th"):
            self._line.append(" | " if any(map(str.strip, self._line)) else "")
        elif tag == "img":
            self.said(attributes.get("alt", ""))
        else:
            self._structure(tag)

    def closed(self, tag: str) -> None:
        if tag == "title":
            self._title = None
        elif tag == "a":
            self._end_link()
        elif tag == "pre":
            self._break()
            self._verbatim = max(0, self._verbatim - 1)
            self._lines.append("")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._break()
            self._lines.extend([""] if tag in _HEADINGS or tag in ("p", "ul", "ol", "table") else [])

    def said(self, text: str) -> None:
        if self._title is not None:
            self._title.append(text)
        elif self._verbatim:
            first, *others = text.split("\n")
            self._line.append(first)
            for line in others:
                self._break()
                self._line.append(line)
        else:
            self._line.append(_BLANKS.sub(" ", text))

    def _structure(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._break()
            self._lines.append("")
            self._line.append(_HEADINGS[tag])
        elif tag == "li":
            self._break()
            self._line.append("- ")
        elif tag in _BLOCKS or tag in ("br", "pre"):
            self._break()
            self._verbatim += tag == "pre"

    def _break(self) -> None:
        """End the line. A link goes on in the next one, without its address."""
        self._end_link()
        text = "".join(self._line)
        self._line.clear()
        plain = text if text.isprintable() else "".join(_kept(char) for char in text)
        line = plain.rstrip() if self._verbatim else _BLANKS.sub(" ", plain).strip()
        if line.strip("- #|") or self._verbatim:
            self._lines.append(line)

    def _end_link(self) -> None:
        if not self._link:
            return
        text = "".join(self._line[self._link_from :]).strip()
        if text:
            self._line[self._link_from :] = [f"[{text}]({self._link})"]
        self._link = ""

    def _absolute(self, href: str) -> str:
        if href.startswith("#"):
            return ""
        try:
            return str(joined(self._at, href.strip()))
        except BadInput:
            return ""


def _kept(char: str) -> str:
    return char if char.isprintable() or char == "\t" else " "
