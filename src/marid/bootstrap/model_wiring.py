"""Conversations and models: which adapter stands behind which of their ports, and which proxy before a provider."""

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote, urlsplit

from marid.app.conversation_stores import ConversationStores
from marid.core.errors import BadInput, Unavailable
from marid.core.settings.values import Settings
from marid.text.display import quote_path

if TYPE_CHECKING:
    from marid.core.model_io import ModelInfo, ModelRequest
    from marid.ports.model import Model, OnModelEvent

OFFLINE = "offline"
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


def make_stores(home: str) -> ConversationStores:
    """Conversations as folders of the home. Raises: Unavailable for a home that is no folder, and cannot become one."""
    from marid.adapters.store.conversations import FileConversations

    try:
        os.stat(os.path.join(home, ""))  # the slash: a file in its place is no folder
    except NotADirectoryError as error:
        raise Unavailable(f"the home '{quote_path(home)}' is no folder") from error
    except OSError:
        pass  # it is made when needed; whoever cannot use it says what for
    store = FileConversations(home)
    return ConversationStores(store, store, store.session, store.inbox, store)


def make_model(settings: Settings, environ: Mapping[str, str], files: Mapping[str, str]) -> "Model":
    """The provider that settings name. Raises: BadInput for one that cannot be asked as it is set up."""
    return _make_provider(settings.model.provider, _row(settings), settings, environ, files)


def make_providers(settings: Settings, environ: Mapping[str, str]) -> "tuple[Model, ...]":
    """Every provider that is set up, the default one first, `offline` always among them; whoever lacks a key or an
    address says so when asked, so that the others can answer."""
    made = list(_configured_models(settings, environ))
    if all(model.provider != OFFLINE for model in made):
        made.append(_offline())
    return tuple(made)


def provider_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every key and password of a provider that is set somewhere: none of them belongs into a log. What is short is a
    word that somebody has put where a key must be, and would be missed.
    """
    rows = [_row(settings), *settings.model.providers.values()]
    found = [environ.get(name, "") for names in _VARIABLES.values() for name in names]
    for row in rows:
        found += [row.get("api_key", ""), _password(row.get("base_url", ""))]
    return tuple(dict.fromkeys(key for key in found if len(key) >= _MIN_KEY_LENGTH))


def _password(url: str) -> str:
    login, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    return unquote(login.partition(":")[2]) if at else ""


def _row(settings: Settings) -> Mapping[str, str]:
    return {"base_url": settings.model.base_url, "api_key": settings.model.api_key}


def _windows(settings: Settings) -> Mapping[str, int]:
    """What somebody has written down about the model that is meant."""
    return {settings.model.name: settings.model.window} if settings.model.name and settings.model.window else {}


def _configured_models(settings: Settings, environ: Mapping[str, str]) -> "Iterator[Model]":
    rows = {settings.model.provider: _row(settings)}
    for id, row in {**rows, **{id: row for id, row in settings.model.providers.items() if id not in rows}}.items():
        try:
            yield _make_provider(id, row, settings, environ)
        except BadInput as error:
            yield MisconfiguredProvider(id or "openai", error)


def _make_provider(
    id: str,
    row: Mapping[str, str],
    settings: Settings,
    environ: Mapping[str, str],
    files: Mapping[str, str] = MappingProxyType({}),
) -> "Model":
    from marid.adapters.gateway.providers import provider_from_settings  # imported when used, as is all of the gateway

    key = row.get("api_key") or next(filter(None, (environ.get(name) for name in _VARIABLES.get(id, ()))), "")
    provider = provider_from_settings(id, base_url=row.get("base_url", ""), api_key=key)
    if provider is None:
        return _offline()
    from dataclasses import replace

    from marid.adapters.gateway.gateway import Gateway
    from marid.adapters.gateway.options import GatewayOptions, WireLogFiles

    journal = WireLogFiles(requests=files.get("request", ""), responses=files.get("response", "")) if files else None
    means = GatewayOptions(
        wire_log=journal, context_windows=_windows(settings) if id == settings.model.provider else {}
    )
    others = provider_secrets(settings, environ)
    return Gateway(replace(provider, proxy=find_proxy(environ, provider.base_url), other_keys=others), means)


def _offline() -> "Model":
    from marid.adapters.offline.offline_model import OfflineModel

    return OfflineModel()


class MisconfiguredProvider:
    """A provider that cannot be asked as it is set up: every question is answered with what is wrong, but for those
    that our own table answers."""

    def __init__(self, id: str, why: BadInput) -> None:
        self._id = id
        self._why = why

    @property
    def provider(self) -> str:
        """Its id."""
        return self._id

    async def stream(self, request: "ModelRequest", on_event: "OnModelEvent") -> NoReturn:
        """Raises: BadInput."""
        raise self._why

    async def models(self) -> "tuple[ModelInfo, ...]":
        """Raises: BadInput."""
        raise self._why

    async def info(self, name: str) -> "ModelInfo":
        """What our table says. Raises: BadInput when it says nothing."""
        found = _bundled_info(self._id, name)
        if found is None:
            raise self._why
        return found

    def context_window(self, name: str) -> int:
        """What our table says."""
        found = _bundled_info(self._id, name)
        return found.context_window if found else 0


def _bundled_info(id: str, name: str) -> "ModelInfo | None":
    from marid.adapters.gateway.providers import KNOWN_PROVIDERS, Provider, find_known_model

    row = KNOWN_PROVIDERS.get(id)
    return find_known_model(Provider(id=id, dialect=row.dialect, base_url=row.base_url), name) if row else None


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
