"""Parse a result page of the search engine."""

from dataclasses import dataclass
from urllib.parse import parse_qs

from marid.core.errors import BadInput, Unavailable
from marid.ports.web import Target
from marid.text.display import one_line
from marid.text.web.charsets import decode_page
from marid.text.web.http_urls import join_url, parse_url
from marid.text.web.readable_html import VisibleHtmlParser

MAX_RESULTS = 5
MAX_TITLE_LENGTH = 200
MAX_SNIPPET_LENGTH = 500
CHUNK = 1 << 16
# The engine links to results through itself; its other links to itself are not results.
ENGINE_HOSTS = ("duckduckgo.com", "www.duckduckgo.com")


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """A search result; each part is one line."""

    title: str
    url: str
    snippet: str


def parse_results(data: bytes, charset: str, at: Target) -> tuple[SearchResult, ...]:
    """The first results without advertisements. Raises: Unavailable if the page has an unknown layout."""
    reader = _ResultsParser(at)
    text = decode_page(data, charset)
    for start in range(0, len(text), CHUNK):
        if len(reader.hits) < MAX_RESULTS:
            reader.feed(text[start : start + CHUNK])
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
        if found is None or self._is_ad or len(self.hits) == MAX_RESULTS:
            return
        href, title, snippet = found
        url = _result_url(self._at, href)
        if url:
            self.hits.append(
                SearchResult(
                    title=one_line("".join(title), MAX_TITLE_LENGTH) or url,
                    url=url,
                    snippet=one_line("".join(snippet), MAX_SNIPPET_LENGTH),
                )
            )


def _result_url(at: Target, href: str) -> str:
    """The URL of a result; empty for a script or a link of the engine to itself."""
    try:
        target = join_url(at, href.strip())
        if target.host in (at.host, *ENGINE_HOSTS):
            wrapped = parse_qs(target.path.partition("?")[2], max_num_fields=50).get("uddg", [""])
            target = parse_url(wrapped[0])
    except (ValueError, BadInput):
        return ""
    return str(target)
