"""What can be the address of a provider. Imported when one is set."""

import re

_ADDRESS = re.compile(
    r"https?://(?:[^\s/]*@)?(?:\[(?P<ip>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?P<host>[^\s/@:\[\]]+))"
    r"(?::(?P<port>[0-9]{0,5}))?(?:/\S*)?",
    re.IGNORECASE,
)
_DOTTED_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_MAX_PORT = 65_535
_MAX_LENGTH = 10_000


def address_problem(url: str) -> str:
    """What is wrong with an address, as the rest of a sentence; never the address: it may hold a password."""
    if "?" in url or "#" in url:
        return "ends with '?' or '#' and more, which cannot be kept"
    found = _ADDRESS.fullmatch(url) if url.isprintable() and len(url) <= _MAX_LENGTH else None
    good = found is not None and 0 < int(found["port"] or 1) <= _MAX_PORT and _is_host(found["host"], found["ip"])
    return "" if good and _has_hostname(url) else "is no http or https URL, such as http://localhost:1234/v1"


def _is_host(host: str | None, ip: str | None) -> bool:
    """Whether a name can be looked up, or numbers are an address."""
    if host and host.isascii() and not _DOTTED_NUMBERS.fullmatch(host):
        return True
    import ipaddress  # imported when used: most hosts have names

    try:
        if host is None:
            return bool(ipaddress.IPv6Address(ip or ""))
        # A name in other letters is asked for in these.
        return bool(ipaddress.IPv4Address(host) if host.isascii() else host.encode("idna"))
    except ValueError:
        return False


def _has_hostname(url: str) -> bool:
    """Whether the parts can be told apart: some letters look like the signs between them."""
    from urllib.parse import urlsplit  # imported when used: whoever starts has no need of it

    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
