"""Convert web pages to text with headings, lists and links, without scripts and decoration."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser

from marid.core.errors import BadInput
from marid.ports.web import Target
from marid.text.display import one_line
from marid.text.web.charsets import decode_page
from marid.text.web.http_urls import join_url

_HIDDEN_TAGS = frozenset(("script", "style", "template", "noscript", "svg", "iframe", "object", "canvas", "select"))
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "form", "fieldset", "figure"),
        *("ul", "ol", "dl", "dt", "dd", "table", "tr", "blockquote", "address", "details", "summary", "hr", "body"),
    )
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLANKS = re.compile(r"\s+")
MAX_TITLE_LENGTH = 300


@dataclass(frozen=True, kw_only=True)
class ReadablePage:
    """The text and the title of a page; the title may be empty."""

    title: str
    text: str


def extract_readable(data: bytes, charset: str, at: Target, *, whole: bool = True) -> ReadablePage:
    """The visible text of a page with absolute links. Raises: Refused if it is binary."""
    reader = _PageReader(at)
    reader.feed(decode_page(data, charset, whole=whole))
    reader.close()
    return reader.finish()


class VisibleHtmlParser(HTMLParser):
    """A parser that skips invisible elements; subclasses override the `on_` methods."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._hidden_tag = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden_tag:
            self._depth += tag == self._hidden_tag
        elif tag in _HIDDEN_TAGS:
            self._hidden_tag, self._depth = tag, 1
        else:
            self.on_start_tag(tag, {name: value or "" for name, value in attrs})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<svg/>` hides nothing that follows."""
        if tag not in _HIDDEN_TAGS:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden_tag:
            self._depth -= tag == self._hidden_tag
            self._hidden_tag = self._hidden_tag if self._depth else ""
        else:
            self.on_end_tag(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden_tag:
            self.on_text(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Read `<![if x]>` as a comment, as browsers do; older versions of the library raise."""
        return self.parse_bogus_comment(i)

    def on_start_tag(self, tag: str, attributes: dict[str, str]) -> None:
        """A visible element starts."""

    def on_end_tag(self, tag: str) -> None:
        """A visible element ends."""

    def on_text(self, text: str) -> None:
        """Visible text."""


class _PageReader(VisibleHtmlParser):
    def __init__(self, at: Target) -> None:
        super().__init__()
        self._at = at
        self._lines: list[str] = []
        self._line: list[str] = []
        self._title: list[str] | None = None
        self._title_parts: list[str] = []
        self._verbatim = 0
        self._link = ""
        self._link_from = 0

    def finish(self) -> ReadablePage:
        self._end_line()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")
        return ReadablePage(title=one_line("".join(self._title_parts), MAX_TITLE_LENGTH), text=text)

    def on_start_tag(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "title":
            self._title = self._title_parts
        elif tag == "a":
            self._end_link()
            self._link, self._link_from = self._absolute_url(attributes.get("href", "")), len(self._line)
        elif tag in ("td", "th"):
            self._line.append(" | " if any(map(str.strip, self._line)) else "")
        elif tag == "img":
            self.on_text(attributes.get("alt", ""))
        else:
            self._start_block(tag)

    def on_end_tag(self, tag: str) -> None:
        if tag == "title":
            self._title = None
        elif tag == "a":
            self._end_link()
        elif tag == "pre":
            self._end_line()
            self._verbatim = max(0, self._verbatim - 1)
            self._lines.append("")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._end_line()
            self._lines.extend([""] if tag in _HEADINGS or tag in ("p", "ul", "ol", "table") else [])

    def on_text(self, text: str) -> None:
        if self._title is not None:
            self._title.append(text)
        elif self._verbatim:
            first, *others = text.split("\n")
            self._line.append(first)
            for line in others:
                self._end_line()
                self._line.append(line)
        else:
            self._line.append(_BLANKS.sub(" ", text))

    def _start_block(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._end_line()
            self._lines.append("")
            self._line.append(_HEADINGS[tag])
        elif tag == "li":
            self._end_line()
            self._line.append("- ")
        elif tag in _BLOCKS or tag in ("br", "pre"):
            self._end_line()
            self._verbatim += tag == "pre"

    def _end_line(self) -> None:
        """End the line. A link continues in the next one without its URL."""
        self._end_link()
        text = "".join(self._line)
        self._line.clear()
        plain = (
            text
            if text.isprintable()
            else "".join(char if char.isprintable() or char == "\t" else " " for char in text)
        )
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

    def _absolute_url(self, href: str) -> str:
        if href.startswith("#"):
            return ""
        try:
            return str(join_url(self._at, href.strip()))
        except BadInput:
            return ""
