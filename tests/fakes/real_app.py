"""The program over an empty home and project: the real store and settings, with or without a model in memory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from fakes.events import Recorder
from fakes.model import KEY, FakeModel
from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest, run_round
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import AGENT, MESSAGE, TOOL_CALL, TOOL_RESULT, USER, Entry
from marid.core.round_events import RoundEnd, RoundEvent
from marid.ports.model import Model
from marid.testing import ModelServer, Request
from marid.toolkit.questions import Asker


def real_scope(place: Path, model: FakeModel | None = None, environ: Mapping[str, str] | None = None) -> RequestScope:
    """The real App; a `model` answers instead of the one in the settings."""
    project = place / "project"
    project.mkdir(exist_ok=True)
    scope = open_request(cwd=str(project), home=str(place / "home"), environ={"HOME": str(place), **(environ or {})})
    if model is None:
        return scope

    def choose_model(*_: object) -> Model:
        return model

    return scope._replace(app=scope.app._replace(model=choose_model))


def add_messages(scope: RequestScope, name: str, *texts: str) -> None:
    """Store messages of the user and the agent in turns."""
    senders = (("ann", USER), ("bot", AGENT))
    entries = [
        Entry(entry_type=MESSAGE, content=text, sender=senders[number % 2][0], to="x", role=senders[number % 2][1])
        for number, text in enumerate(texts)
    ]
    add_entries(scope, name, entries)


def add_call(scope: RequestScope, name: str, tool: str, args: str, result: str) -> None:
    """Store a call and its result."""
    call = Entry(entry_type=TOOL_CALL, content=args, sender=name, to=tool, tool_call_id="1")
    answer = Entry(entry_type=TOOL_RESULT, content=result, sender=tool, to=name, tool_call_id="1")
    add_entries(scope, name, [call, answer])


def add_entries(scope: RequestScope, name: str, entries: Sequence[Entry]) -> None:
    """Append entries to a conversation, which is created if it does not exist."""
    with scope.stores.conversations.open(name, create=True) as conversation:
        conversation.append(entries)


def add_note(scope: RequestScope, name: str, kind: str, text: str) -> None:
    """Write a note."""
    with scope.stores.conversations.open(name, create=True) as conversation:
        conversation.write_note(kind, text)


def server_flags(server: ModelServer, dialect: str = "openai") -> dict[str, object]:
    """The flags that lead to a scripted server."""
    urls = {"openai": server.openai, "anthropic": server.anthropic, "google": server.google}
    return {"provider": dialect, "base_url": urls[dialect], "api_key": KEY, "model": "scripted-model"}


def chat_requests(server: ModelServer) -> list[Request]:
    """What models were asked; requests for the list of models do not count."""
    return [request for request in server.requests if request.kind == "chat"]


class RoundRecorder(Recorder[RoundEvent]):
    """Keeps every event of a round."""


def run_prompt(
    scope: RequestScope,
    prompt: str = "",
    listener: RoundRecorder | None = None,
    asker: Asker | None = None,
    **fields: Any,
) -> RoundEnd:
    """Run one round in the conversation `c`; without a prompt, resume the last one."""
    scope = scope.within("", fields.pop("flags", {}))._replace(caller=fields.pop("caller", scope.caller))
    fields = {"conversation": "c", "resume": not prompt, **fields}
    request = RoundRequest(prompt=prompt, **fields)

    async def main() -> RoundEnd:
        with anyio.fail_after(30):
            return await run_round(scope, request, listener or RoundRecorder(), asker)

    return anyio.run(main)


def stored_entries(scope: RequestScope, name: str = "c") -> list[Entry]:
    """What the transcript of a conversation holds after its beginning."""
    return list(scope.stores.conversations.read(name).entries())[1:]
