"""The workbench under the conditions of one run."""

from collections.abc import Mapping

from marid.app.app import App
from marid.core.settings.values import ResolvedSettings


def with_overrides(app: App, settings: Mapping[str, object]) -> App:
    """The same with settings above all others, whoever asks it. Raises: BadInput when they make no sense."""
    if not settings:
        return app

    def resolve(conversation: str, flags: Mapping[str, object]) -> ResolvedSettings:
        return app.resolve(conversation, {**settings, **flags})

    return app._replace(settings=resolve("", {}).settings, resolve=resolve)
