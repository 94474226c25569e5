"""Models: which adapter stands behind a provider. Imported with the first model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NoReturn

from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.options import GatewayOptions, WireLogFiles
from marid.adapters.gateway.providers import KNOWN_PROVIDERS, Provider, find_known_model, provider_from_settings
from marid.adapters.offline import OfflineModel
from marid.bootstrap.environment import environment_key, find_proxy, provider_row, provider_secrets
from marid.core.errors import BadInput
from marid.core.model_io import ModelInfo, ModelRequest
from marid.core.settings.values import Settings
from marid.ports.model import Model, OnModelEvent
from marid.toolkit.thread_pool import DaemonThreadPool

OFFLINE = "offline"


def make_model(
    environ: Mapping[str, str],
    settings: Settings,
    files: Mapping[str, str],
    threads: Callable[[], DaemonThreadPool] = DaemonThreadPool,
) -> Model:
    """The provider that settings name. Raises: BadInput for one that cannot be asked as it is set up."""
    wire_log = WireLogFiles(requests=files.get("request", ""), responses=files.get("response", "")) if files else None
    options = GatewayOptions(wire_log=wire_log, threads=threads())
    return _make_provider(settings.model.provider, provider_row(settings), settings, environ, options)


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
    provider = provider_from_settings(id, base_url=row.get("base_url", ""), api_key=key)
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
