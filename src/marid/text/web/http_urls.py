"""Parse http and https URLs strictly: a URL that two parsers could read differently is an error."""

import re

from marid.core.errors import BadInput
from marid.ports.web import PLAIN_PORTS, Target
from marid.text.display import quote_for_message

MAX_URL_LENGTH = 4000
MAX_HOST_LENGTH = 253

_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?", re.I)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[1-9][0-9]{0,4}))?")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
# Spaces, control characters, surrogates, the backslash (a slash to some parsers) and direction marks.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\udfff\ufeff]")
_TO_ESCAPE = re.compile(r"[^!#-;=?-\[\]_a-z~]+")


def parse_url(text: str) -> Target:
    """The parts of an http or https URL, without its fragment.

    Raises: BadInput for another scheme, credentials, or an ambiguous spelling.
    """
    if len(text) > MAX_URL_LENGTH:
        raise BadInput(f"the URL is longer than {MAX_URL_LENGTH:,} characters")
    if _FORBIDDEN.search(text):
        raise BadInput(f"a URL cannot contain spaces, control characters or backslashes: {quote_for_message(text)}")
    found = _URL.fullmatch(text)
    if found is None:
        raise BadInput(f"not an http or https URL: {quote_for_message(text)}")
    scheme = found["scheme"].lower()
    host, port = _parse_authority(found["authority"], text)
    path = (found["path"] or "/") + (found["query"] or "")
    # What is not ASCII is escaped; existing escapes stay.
    path = _TO_ESCAPE.sub(lambda part: "".join(f"%{byte:02X}" for byte in part[0].encode()), path)
    return Target(scheme=scheme, host=host, port=port or PLAIN_PORTS[scheme], path=path)


def join_url(target: Target, location: str) -> Target:
    """The target of a link or redirect at `target`. Raises as `parse_url`."""
    from urllib.parse import urljoin  # imported on use

    if not location or _FORBIDDEN.search(location):
        raise BadInput(f"not a link: {quote_for_message(location)}")
    try:
        return parse_url(urljoin(str(target), location))
    except ValueError as cause:
        raise BadInput(f"not a link: {quote_for_message(location)}") from cause


def with_query(target: Target, name: str, value: str) -> Target:
    """The URL with another query parameter."""
    from urllib.parse import quote_plus  # imported on use

    mark = "&" if "?" in target.path else "?"
    path = f"{target.path}{mark}{name}={quote_plus(value)}"
    return Target(scheme=target.scheme, host=target.host, port=target.port, path=path)


def _parse_authority(authority: str, text: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise BadInput("a URL with a user or password is not fetched")
    if not authority.isascii():
        raise BadInput(f"write the host in its ASCII form (xn--...): {quote_for_message(text)}")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise BadInput(f"not a host with an optional port: {quote_for_message(authority)}")
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > 65535:
        raise BadInput(f"invalid port {port}")
    return _normalize_host(found["host"].lower()), port


def _normalize_host(host: str) -> str:
    import ipaddress  # imported on use

    try:
        if host.startswith("["):
            return str(ipaddress.IPv6Address(host[1:-1]))
        if _NUMERIC.fullmatch(host):
            return str(ipaddress.IPv4Address(host))
    except ValueError as cause:
        raise BadInput(f"unusual spelling of an IP address: {quote_for_message(host)}") from cause
    if len(host) > MAX_HOST_LENGTH or not _NAME.fullmatch(host):
        raise BadInput(f"not a host name: {quote_for_message(host)}")
    return host
