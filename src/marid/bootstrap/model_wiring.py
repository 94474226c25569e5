"""Models: which adapter stands behind a provider. Imported with the first model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NoReturn

from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.options import GatewayOptions, WireLogFiles
from marid.adapters.gateway.providers import (
    KNOWN_PROVIDERS,
    Provider,
    find_known_model,
    provider_from_settings,
    provider_of_model,
)
from marid.adapters.offline import OfflineModel
from marid.bootstrap.environment import environment_key, find_proxy, key_variable, provider_row, provider_secrets
from marid.core.errors import BadInput
from marid.core.model_io import ModelInfo, ModelRequest
from marid.core.settings.values import Settings
from marid.core.suggestions import close_matches, did_you_mean
from marid.ports.model import Model, OnModelEvent
from marid.toolkit.thread_pool import DaemonThreadPool

OFFLINE = "offline"


def make_model(
    environ: Mapping[str, str],
    settings: Settings,
    files: Mapping[str, str],
    threads: Callable[[], DaemonThreadPool] = DaemonThreadPool,
) -> Model:
    """The provider that settings name.

    Raises: BadInput for one that cannot be asked as it is set up, and for a model that no provider would answer for.
    """
    wire_log = WireLogFiles(requests=files.get("request", ""), responses=files.get("response", "")) if files else None
    options = GatewayOptions(wire_log=wire_log, threads=threads())
    model = _make_provider(settings.model.provider, provider_row(settings), settings, environ, options)
    if isinstance(model, OfflineModel) and settings.model.name not in ("", OFFLINE):
        raise BadInput(_missing_provider(settings, environ))
    return model


def _missing_provider(settings: Settings, environ: Mapping[str, str]) -> str:
    """Why the model that is named cannot be asked, and what to set."""
    name = settings.model.name
    if settings.model.provider:
        return f"provider '{OFFLINE}' has one model, '{OFFLINE}', and no '{name}'"
    told = f"model '{name}' needs a provider"
    given, colon, rest = name.partition(":")
    if colon and (near := close_matches(given, (*KNOWN_PROVIDERS, *settings.model.providers))):
        return f"{told}: '{given}' is not one{did_you_mean([f'{near[0]}:{rest}'])}"
    if not (provider := provider_of_model(name)):
        return f"{told}: write PROVIDER:{name}, or set provider or base_url in config.toml"
    key = "" if environment_key(provider, environ) else f" and set {key_variable(provider)}"
    return f"{told}: write '{provider}:{name}'{key}"


def make_providers(
    environ: Mapping[str, str], settings: Settings, threads: Callable[[], DaemonThreadPool] = DaemonThreadPool
) -> tuple[Model, ...]:
    """Every provider that is set up, the default one first, `offline` always among them.

    One that lacks a key or an address says so when it is asked, so that the others can answer.
    """
    made = list(_configured_models(settings, environ, GatewayOptions(threads=threads())))
    return tuple(made) if any(model.provider == OFFLINE for model in made) else (*made, OfflineModel())


def _configured_models(settings: Settings, environ: Mapping[str, str], options: GatewayOptions) -> Iterator[Model]:
    default = {settings.model.provider: provider_row(settings)}
    for id, row in {**default, **settings.model.providers, **default}.items():
        try:
            yield _make_provider(id, row, settings, environ, options)
        except BadInput as error:
            yield MisconfiguredProvider(id or "openai", error)


def _make_provider(
    id: str, row: Mapping[str, str], settings: Settings, environ: Mapping[str, str], options: GatewayOptions
) -> Model:
    key = row.get("api_key") or environment_key(id, environ)
    provider = provider_from_settings(id, base_url=row.get("base_url", ""), api_key=key, key_variable=key_variable(id))
    if provider is None:
        return OfflineModel()
    model = settings.model
    windows = {model.name: model.window} if id == model.provider and model.name and model.window else {}
    proxy, others = find_proxy(environ, provider.base_url), provider_secrets(settings, environ)
    return Gateway(replace(provider, proxy=proxy, other_keys=others), replace(options, context_windows=windows))


class MisconfiguredProvider:
    """A provider that cannot be asked as it is set up. Only what our own table knows is answered."""

    def __init__(self, id: str, why: BadInput) -> None:
        self.provider = id
        self._why = why

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> NoReturn:
        """Raises: BadInput."""
        raise self._why

    async def models(self) -> tuple[ModelInfo, ...]:
        """Raises: BadInput."""
        raise self._why

    async def info(self, name: str) -> ModelInfo:
        """What our table says. Raises: BadInput if it says nothing."""
        if found := self._known_model(name):
            return found
        raise self._why

    def context_window(self, name: str) -> int:
        """What our table says, else 0."""
        found = self._known_model(name)
        return found.context_window if found else 0

    def _known_model(self, name: str) -> ModelInfo | None:
        row = KNOWN_PROVIDERS.get(self.provider)
        known = row and Provider(id=self.provider, dialect=row.dialect, base_url=row.base_url)
        return find_known_model(known, name) if known else None
