"""Port to pages of the public internet."""

from dataclasses import dataclass
from typing import Protocol

PLAIN_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True)
class Target:
    """A parsed URL: this value is checked, shown for approval and connected to, never a string."""

    scheme: str
    host: str
    """A name in lower case, or an address without brackets."""
    port: int
    path: str
    """With the query, as it goes over the wire."""

    @property
    def authority(self) -> str:
        """The host, with its port unless that is the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PLAIN_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


@dataclass(frozen=True, kw_only=True)
class WebPage:
    """The response, decompressed. `whole` is false if it was cut at the limit."""

    target: Target
    kind: str
    charset: str
    data: bytes
    whole: bool


@dataclass(frozen=True, kw_only=True)
class CrossHostRedirect:
    """The page is on another host, for which there is no approval, so it was not fetched."""

    target: Target


class Web(Protocol):
    """Fetches pages from public addresses only, wherever names or redirects lead."""

    @property
    def search_target(self) -> Target:
        """The search page, which takes the query as `q`."""
        ...

    def check_target(self, target: Target) -> None:
        """Check without a look-up. Raises: Refused for a host or a port that is never allowed."""
        ...

    def fetch(self, target: Target, *, max_bytes: int, timeout: float) -> WebPage | CrossHostRedirect:
        """Fetch at most `max_bytes` of a page; redirects on the same host are followed.

        Raises:
            Refused: it leads to a host, port, address or type of content that is not allowed.
            NotFound: the host or the page does not exist.
            Exhausted: it took longer than `timeout`, or too many redirects.
            Unavailable: the server failed or sent an invalid response.
        """
        ...
