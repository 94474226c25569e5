"""Pages of the public internet."""

from dataclasses import dataclass
from typing import Protocol

PLAIN_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True)
class Target:
    """An address taken apart once: what is checked, asked about and connected to is this value, never a string."""

    scheme: str
    host: str
    """A name in lower case, or an address without brackets."""
    port: int
    path: str
    """With the query, as it goes over the wire."""

    @property
    def authority(self) -> str:
        """The host, with its port where that is an unusual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PLAIN_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


@dataclass(frozen=True, kw_only=True)
class WebPage:
    """What a server sent, decompressed. `whole` is false when it was cut at the limit."""

    target: Target
    kind: str
    charset: str
    data: bytes
    whole: bool


@dataclass(frozen=True, kw_only=True)
class CrossHostRedirect:
    """The page is on another host, which nobody was asked about, so it was not fetched."""

    target: Target


class Web(Protocol):
    """Fetches pages from public addresses and from nowhere else, also when names or redirects lead elsewhere."""

    @property
    def search_target(self) -> Target:
        """Where searches go: it takes the query as `q`."""
        ...

    def check_target(self, target: Target) -> None:
        """Judge what needs no look-up. Raises: Refused for a host or a port that is never connected to."""
        ...

    def fetch(self, target: Target, *, max_bytes: int, timeout: float) -> WebPage | CrossHostRedirect:
        """The text behind the address, at most `most` bytes of it; redirects on the same host are followed.

        Raises:
            Refused: it leads to a host, port, address or kind of content that is not allowed.
            NotFound: the host or the page does not exist.
            Exhausted: it took longer than `seconds`, or too many redirects.
            Unavailable: the server failed, or sent what is no valid answer.
        """
        ...
