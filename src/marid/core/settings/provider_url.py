"""Which URLs a provider may have."""

import re

_ADDRESS = re.compile(
    r"https?://(?:[^\s/]*@)?(?:\[(?P<ip>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?P<host>[^\s/@:\[\]]+))"
    r"(?::(?P<port>[0-9]{0,5}))?(?:/\S*)?",
    re.IGNORECASE,
)
_DOTTED_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_MAX_PORT = 65_535
_MAX_LENGTH = 10_000


def url_problem(url: str) -> str:
    """What is wrong with a URL, as the end of a sentence; without the URL, which may hold a password."""
    if "?" in url or "#" in url:
        return "must not contain '?' or '#'"
    found = _ADDRESS.fullmatch(url) if url.isprintable() and len(url) <= _MAX_LENGTH else None
    good = found is not None and 0 < int(found["port"] or 1) <= _MAX_PORT and _is_host(found["host"], found["ip"])
    return "" if good and _has_hostname(url) else "must be an http or https URL, such as http://localhost:1234/v1"


def _is_host(host: str | None, ip: str | None) -> bool:
    """Whether a name can be looked up, or an address is valid."""
    if host and host.isascii() and not _DOTTED_NUMBERS.fullmatch(host):
        return True
    import ipaddress  # imported when used: most hosts have names

    try:
        if host is None:
            return bool(ipaddress.IPv6Address(ip or ""))
        # A name outside ASCII is looked up in this encoding.
        return bool(ipaddress.IPv4Address(host) if host.isascii() else host.encode("idna"))
    except ValueError:
        return False


def _has_hostname(url: str) -> bool:
    """Whether the URL can be split: some characters normalize to delimiters."""
    from urllib.parse import urlsplit  # imported when used: not needed to start

    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
