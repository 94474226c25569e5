"""The results on a page of the search engine."""

from dataclasses import dataclass
from urllib.parse import parse_qs

from marid.core.errors import BadInput, Unavailable
from marid.ports.web import Target
from marid.text.charsets import page_text
from marid.text.html import Elements, one_line
from marid.text.urls import joined, parse

MOST = 5
LONGEST_TITLE = 200
LONGEST_SNIPPET = 500
PIECE = 1 << 16
# The engine links to results by way of itself; what else leads there is no result.
ITS_OWN = ("duckduckgo.com", "www.duckduckgo.com")


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One result, each part on one line."""

    title: str
    url: str
    snippet: str


def results(data: bytes, charset: str, at: Target) -> tuple[Hit, ...]:
    """The first results, advertisements left out; none when the page says that there are none.

    Raises:
        Unavailable: the page is not one that we know how to read.
    """
    reader = _Reader(at)
    text = page_text(data, charset)
    for start in range(0, len(text), PIECE):
        if len(reader.hits) < MOST:
            reader.feed(text[start : start + PIECE])
    reader.close()
    if not reader.known:
        asks = "asks for a proof that a person is searching" if reader.challenged else "has changed its pages"
        raise Unavailable(f"the search engine at '{at.place}' {asks}; fetch_url on a known address may help")
    return tuple(reader.hits)


class _Reader(Elements):
    """Looks for the classes that the engine gives to the title and the snippet of a result."""

    def __init__(self, at: Target) -> None:
        super().__init__()
        self._at = at
        self._paid = False
        self._into: list[str] | None = None
        self._tag = ""
        self._open: tuple[str, list[str], list[str]] | None = None
        self.hits: list[Hit] = []
        self.known = False
        self.challenged = False

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        classes = attributes.get("class", "").split()
        if "result" in classes:
            self._finish()
            self._paid = "result--ad" in classes
        elif "result__a" in classes and tag == "a":
            self._finish()
            self.known = True
            self._open = (attributes.get("href", ""), [], [])
            self._tag, self._into = tag, self._open[1]
        elif "result__snippet" in classes and self._open:
            self._tag, self._into = tag, self._open[2]
        elif "no-results" in classes:
            self.known = True
        elif any(name.startswith("anomaly-modal") for name in classes):
            self.challenged = True

    def closed(self, tag: str) -> None:
        if tag == self._tag:
            self._into, self._tag = None, ""

    def said(self, text: str) -> None:
        if self._into is not None:
            self._into.append(text)

    def close(self) -> None:
        """Also ends the last result."""
        super().close()
        self._finish()

    def _finish(self) -> None:
        found, self._open, self._into, self._tag = self._open, None, None, ""
        if found is None or self._paid or len(self.hits) == MOST:
            return
        href, title, snippet = found
        url = _unwrapped(self._at, href)
        if url:
            self.hits.append(
                Hit(
                    title=one_line("".join(title), LONGEST_TITLE) or url,
                    url=url,
                    snippet=one_line("".join(snippet), LONGEST_SNIPPET),
                )
            )


def _unwrapped(at: Target, href: str) -> str:
    """The address of a result; empty for what is none, such as a script, and for a link of the engine to itself."""
    try:
        target = joined(at, href.strip())
        if target.host in (at.host, *ITS_OWN):
            wrapped = parse_qs(target.path.partition("?")[2], max_num_fields=50).get("uddg", [""])
            target = parse(wrapped[0])
    except (ValueError, BadInput):
        return ""
    return str(target)
