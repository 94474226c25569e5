"""Which proxy stands before a provider, as the usual variables name it."""

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit


def find_proxy(environ: Mapping[str, str], url: str) -> str:
    """The proxy for `url`, with its scheme; "" for none. This machine itself is never behind one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if _is_loopback(host) or any(
        _matches_no_proxy(entry.strip(), host, port) for entry in _proxy_variable(environ, "no").split(",")
    ):
        return ""
    found = _proxy_variable(environ, parts.scheme) or _proxy_variable(environ, "all")
    return found if "://" in found or not found else f"http://{found}"


def _proxy_variable(environ: Mapping[str, str], what: str) -> str:
    """A variable in small letters is the stronger, as elsewhere."""
    lower = f"{what}_proxy"
    if environ.get(lower):
        return environ[lower].strip()
    # A web server puts the header `Proxy` of a stranger's request under this name.
    if what == "http" and "REQUEST_METHOD" in environ:
        return ""
    return environ.get(lower.upper(), "").strip()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _matches_no_proxy(entry: str, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY means this host: all, a name with what is below it, an address, a network."""
    if entry == "*":
        return True
    name, given = _split_port(entry)
    if given and given != str(port):
        return False
    try:
        return ip_address(host) in ip_network(name, strict=False)
    except ValueError:
        name = name.lower().lstrip("*").strip(".")
        return bool(name) and (host == name or host.endswith(f".{name}"))


def _split_port(entry: str) -> tuple[str, str]:
    """The host and the port, where there is one: addresses have colons of their own."""
    if entry.startswith("["):
        name, _, port = entry[1:].partition("]")
        return name, port.removeprefix(":")
    name, _, port = entry.rpartition(":")
    return (name, port) if port.isdigit() and name and ":" not in name else (entry, "")
