"""Rounds through the whole program: the real store and settings, a model in memory or a scripted server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from fakes.events import Recorder
from fakes.model import FakeModel
from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest, run_round
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import Entry
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import Settings
from marid.ports.model import Model
from marid.testing import ModelServer, Request
from marid.toolkit.questions import Asker


def desk(place: Path, model: FakeModel | None = None, environ: Mapping[str, str] | None = None) -> RequestScope:
    """The program in an empty project; `model` answers whatever the settings say."""
    (place / "project").mkdir(exist_ok=True)
    scope = open_request(cwd=str(place / "project"), home=str(place / "home"), environ=environ or {})

    def chosen(settings: Settings, files: Mapping[str, str]) -> Model:
        return model or scope.app.model(settings, files)

    return scope._replace(app=scope.app._replace(model=chosen))


def asks(server: ModelServer, dialect: str = "openai") -> dict[str, object]:
    """The flags that lead to a scripted server."""
    urls = {"openai": server.openai, "anthropic": server.anthropic, "google": server.google}
    return {
        "provider": dialect,
        "base_url": urls[dialect],
        "api_key": "sk-canary-0123456789",
        "model": "scripted-model",
    }


def chats(server: ModelServer) -> list[Request]:
    """What models were asked; a list of them, which is asked for where nobody knows a window, does not count."""
    return [request for request in server.requests if request.kind == "chat"]


class Listener(Recorder[RoundEvent]):
    """Everything that was heard."""


def talk(
    scope: RequestScope, prompt: str = "", listener: Listener | None = None, asker: Asker | None = None, **how: Any
) -> RoundEnd:
    """One round in the conversation `c`; without a prompt the last one goes on."""
    scope = scope.within("", how.pop("flags", {}))._replace(caller=how.pop("caller", scope.caller))
    fields: dict[str, Any] = {"conversation": "c", "resume": not prompt, **how}
    saying = RoundRequest(prompt=prompt, **fields)

    async def main() -> RoundEnd:
        with anyio.fail_after(30):
            return await run_round(scope, saying, listener or Listener(), asker)

    return anyio.run(main)


def stored(scope: RequestScope, name: str = "c") -> list[Entry]:
    """What the transcript of a conversation holds after its beginning."""
    return list(scope.stores.conversations.read(name).entries())[1:]
