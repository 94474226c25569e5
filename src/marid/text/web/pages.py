"""Web pages: decode them, and convert them to readable text or to search results."""

import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import parse_qs

from marid.core.errors import BadInput, Refused, Unavailable
from marid.ports.web import Target
from marid.text.decode import to_utf8
from marid.text.display import one_line
from marid.text.web.http_urls import join_url, parse_url

_MAX_TITLE_LENGTH = 300
_MAX_RESULTS = 5
_MAX_RESULT_TITLE_LENGTH, _MAX_SNIPPET_LENGTH = 200, 500
_CHUNK = 1 << 16
# The engine links to results through itself; its other links to itself are not results.
_ENGINE_HOSTS = ("duckduckgo.com", "www.duckduckgo.com")

_SNIFF_BYTES = 1024
_META = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?([A-Za-z0-9_-]{1,40})", re.I)
# A server must not be able to choose any codec of Python.
_KNOWN_CHARSETS = frozenset(
    (
        *("utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be", "koi8-r", "koi8-u", "macintosh"),
        *("iso-8859-1", "latin1", "latin-1", *(f"iso-8859-{part}" for part in range(2, 17) if part != 12)),
        *(f"windows-{page}" for page in range(1250, 1259)),
        *("shift_jis", "euc-jp", "iso-2022-jp", "gb2312", "gbk", "gb18030", "big5", "euc-kr"),
    )
)
_ALIASES = {"iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "macintosh": "mac_roman"}

_HIDDEN_TAGS = frozenset(("script", "style", "template", "noscript", "svg", "iframe", "object", "canvas", "select"))
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "form", "fieldset", "figure"),
        *("ul", "ol", "dl", "dt", "dd", "table", "tr", "blockquote", "address", "details", "summary", "hr", "body"),
    )
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLANKS = re.compile(r"\s+")


def decode_page(data: bytes, charset: str, *, whole: bool = True) -> str:
    """The text of a page; not `whole` if its end was cut off. Raises: Refused if it is binary."""
    declared = _META.search(data[:_SNIFF_BYTES])
    named = charset.lower() or (declared[1].decode("ascii").lower() if declared else "")
    if named in _KNOWN_CHARSETS and named not in ("utf-8", "utf8"):
        return data.decode(_ALIASES.get(named, named), "replace")
    found = to_utf8(data if whole else _without_broken_end(data))
    if found is None:
        raise Refused("the page is binary: only text is fetched")
    return found[0].decode("utf-8-sig")


def _without_broken_end(data: bytes) -> bytes:
    """Without the first bytes of a character whose other bytes were cut off."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start] if error.start >= len(data) - 3 else data
    return data


class ReadablePage(NamedTuple):
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
        self._in_title = False
        self._title_parts: list[str] = []
        self._verbatim = 0
        self._link = ""
        self._link_from = 0

    def finish(self) -> ReadablePage:
        self._end_line()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")
        return ReadablePage(title=one_line("".join(self._title_parts), _MAX_TITLE_LENGTH), text=text)

    def on_start_tag(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "title":
            self._in_title = True
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
            self._in_title = False
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
        if self._in_title:
            self._title_parts.append(text)
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
        plain = "".join(char if char.isprintable() or char == "\t" else " " for char in text)
        line = plain.rstrip() if self._verbatim else _BLANKS.sub(" ", plain).strip()
        if line.strip("- #|") or self._verbatim:
            self._lines.append(line)

    def _end_link(self) -> None:
        if self._link and (text := "".join(self._line[self._link_from :]).strip()):
            self._line[self._link_from :] = [f"[{text}]({self._link})"]
        self._link = ""

    def _absolute_url(self, href: str) -> str:
        try:
            return "" if href.startswith("#") else str(join_url(self._at, href.strip()))
        except BadInput:
            return ""


class SearchResult(NamedTuple):
    """A search result; each part is one line."""

    title: str
    url: str
    snippet: str


def parse_results(data: bytes, charset: str, at: Target) -> tuple[SearchResult, ...]:
    """The first results without advertisements. Raises: Unavailable if the page has an unknown layout."""
    reader = _ResultsParser(at)
    text = decode_page(data, charset)
    for start in range(0, len(text), _CHUNK):
        if len(reader.hits) < _MAX_RESULTS:
            reader.feed(text[start : start + _CHUNK])
    reader.close()
    if not reader.is_known_page:
        reason = "asks for proof of a human" if reader.is_challenged else "has changed its pages"
        raise Unavailable(f"the search engine at '{at.authority}' {reason}; try fetch_url with a known URL")
    return tuple(reader.hits)


class _ResultsParser(VisibleHtmlParser):
    """Finds titles and snippets by the CSS classes that the engine gives them."""

    def __init__(self, at: Target) -> None:
        super().__init__()
        self._at = at
        self._is_ad = False
        self._text_parts: list[str] | None = None
        self._tag = ""
        self._open: tuple[str, list[str], list[str]] | None = None
        self.hits: list[SearchResult] = []
        self.is_known_page = False
        self.is_challenged = False

    def on_start_tag(self, tag: str, attributes: dict[str, str]) -> None:
        classes = attributes.get("class", "").split()
        if "result" in classes:
            self._finish_result()
            self._is_ad = "result--ad" in classes
        elif "result__a" in classes and tag == "a":
            self._finish_result()
            self.is_known_page = True
            self._open = (attributes.get("href", ""), [], [])
            self._tag, self._text_parts = tag, self._open[1]
        elif "result__snippet" in classes and self._open:
            self._tag, self._text_parts = tag, self._open[2]
        elif "no-results" in classes:
            self.is_known_page = True
        elif any(name.startswith("anomaly-modal") for name in classes):
            self.is_challenged = True

    def on_end_tag(self, tag: str) -> None:
        if tag == self._tag:
            self._text_parts, self._tag = None, ""

    def on_text(self, text: str) -> None:
        if self._text_parts is not None:
            self._text_parts.append(text)

    def close(self) -> None:
        super().close()
        self._finish_result()

    def _finish_result(self) -> None:
        found, self._open, self._text_parts, self._tag = self._open, None, None, ""
        if found is None or self._is_ad or len(self.hits) == _MAX_RESULTS:
            return
        href, title, snippet = found
        if url := _result_url(self._at, href):
            shown = one_line("".join(title), _MAX_RESULT_TITLE_LENGTH) or url
            self.hits.append(SearchResult(shown, url, one_line("".join(snippet), _MAX_SNIPPET_LENGTH)))


def _result_url(at: Target, href: str) -> str:
    """The URL of a result; empty for a script or a link of the engine to itself."""
    try:
        target = join_url(at, href.strip())
        if target.host in (at.host, *_ENGINE_HOSTS):
            wrapped = parse_qs(target.path.partition("?")[2], max_num_fields=50).get("uddg", [""])
            return str(parse_url(wrapped[0]))
        return str(target)
    except (ValueError, BadInput):
        return ""
