"""What the environment says about providers: their keys, and the proxy before them."""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from marid.core.settings.values import Settings

# What is shorter is a word in the place of a key: hiding it everywhere would hide ordinary text.
_MIN_KEY_LENGTH = 8
# Where the services' own programs look for a key; used only for the provider that is named.
_VARIABLES = MappingProxyType(
    {
        "openai": ("OPENAI_API_KEY",),
        "openrouter": ("OPENROUTER_API_KEY",),
        "anthropic": ("ANTHROPIC_API_KEY",),
        "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    }
)


def environment_key(provider: str, environ: Mapping[str, str]) -> str:
    """The key of a provider that a variable holds, or ""."""
    return next(filter(None, (environ.get(name) for name in _VARIABLES.get(provider, ()))), "")


def provider_row(settings: Settings) -> Mapping[str, str]:
    """The address and the key of the default provider."""
    return {"base_url": settings.model.base_url, "api_key": settings.model.api_key}


def provider_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every key and password of a provider that is set anywhere."""
    found = [environ.get(name, "") for names in _VARIABLES.values() for name in names]
    for row in (provider_row(settings), *settings.model.providers.values()):
        found += [row.get("api_key", ""), _password(row.get("base_url", ""))]
    return tuple(dict.fromkeys(key for key in found if len(key) >= _MIN_KEY_LENGTH))


def _password(url: str) -> str:
    login, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    return unquote(login.partition(":")[2]) if at else ""


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
    from ipaddress import ip_address  # imported when used: only a provider needs it

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _matches_no_proxy(entry: str, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY means this host: all, a name with what is below it, an address, a network."""
    if entry == "*":
        return True
    from ipaddress import ip_address, ip_network

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
