"""What the port Model promises: over the wire in each dialect, offline, and in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import anyio
import pytest

from fakes.model import DIALECTS, TREE, FakeModel, answer, events_of, finished, gateway_to, model_request, name_in
from marid.adapters.gateway.providers import Dialect
from marid.adapters.offline import OfflineModel
from marid.core.errors import NotFound
from marid.core.model_io import (
    CallDelta,
    CallReady,
    CallStarted,
    Finished,
    GatewayEvent,
    Message,
    ModelRequest,
    Reasoning,
    TextDelta,
    ToolCall,
    ToolOffer,
    ToolResult,
    Usage,
    user_message,
)
from marid.ports.model import Model
from marid.testing import ModelServer, Script, always, call, say
from marid.testing import ScriptedModel as Listed

# The Google client spells a docstring in a way that newer Pythons complain about when they first compile it.
pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")


@dataclass(frozen=True, kw_only=True)
class World:
    """A model, a question that it answers in words, one that it answers with calls, and its own name."""

    model: Model
    words: ModelRequest
    calls: ModelRequest
    name: str


GREP = ToolOffer(name="grep_files", description="Search.", schema={"type": "object", "properties": {}})
ASKED = user_message("where is the parser_table?")


def over_the_wire(kind: Dialect) -> Iterator[World]:
    words, calls = model_request(kind), model_request(kind, user_message("calls please"))
    script = Script(
        steps=[
            always(
                lambda request: (
                    say(calls=[call("get_tree", {"path": "."}, pieces=2), call("get_tree", {"path": "b"})])
                    if "calls" in request.said
                    else say("Hel", "lo, ", "you")
                )
            )
        ],
        models=[Listed(id=name_in(kind), context=1000, output=100)],
    )
    with ModelServer(script) as server:
        yield World(model=gateway_to(server, kind), words=words, calls=calls, name=name_in(kind))


def offline() -> World:
    calls = ModelRequest(model="offline", messages=(ASKED,), tools=(GREP,))
    asked = answer(ToolCall(id="offline-1-0", name="grep_files", arguments="{}"))
    found = ToolResult(call_id="offline-1-0", name="grep_files", text="a.py:3: parser_table = {}")
    history = (ASKED, asked, Message(role="tool", parts=(found,)))
    return World(model=OfflineModel(), words=replace(calls, messages=history), calls=calls, name="offline")


def in_memory() -> World:
    def played(request: ModelRequest) -> Message:
        if "calls" not in request.messages[-1].text:
            return answer(Reasoning(text="hm"), "Hel", "lo")
        return answer(*(ToolCall(id=str(number), name="get_tree", arguments="{}") for number in range(2)))

    words = ModelRequest(model="fake-model", messages=(user_message("hi"),), tools=(TREE,))
    calls = replace(words, messages=(user_message("calls please"),))
    return World(model=FakeModel(*[played] * 5), words=words, calls=calls, name="fake-model")


@pytest.fixture(params=[*DIALECTS, "offline", "memory"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param in DIALECTS:
        yield from over_the_wire(request.param)
    else:
        yield offline() if request.param == "offline" else in_memory()


def check_order(events: list[GatewayEvent]) -> None:
    """Deltas, then calls, then one Usage, then the end."""
    ranks: dict[type, int] = {CallReady: 1, Usage: 2, Finished: 3}
    order = [ranks.get(type(event), 0) for event in events]
    assert order == sorted(order)
    assert order[-2:] == [2, 3]
    assert order.count(2) == order.count(3) == 1


def test_words_come_in_pieces_and_as_a_whole_at_the_end(world: World) -> None:
    events, error = events_of(world.model, world.words)
    assert error is None
    check_order(events)
    end = finished(events)
    assert end.reason == "stop"
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == end.reply.text != ""
    assert sum(isinstance(event, TextDelta) for event in events) > 1
    assert not end.reply.calls


def test_calls_come_in_pieces_and_then_whole_in_their_order(world: World) -> None:
    events, error = events_of(world.model, world.calls)
    assert error is None
    check_order(events)
    end = finished(events)
    assert end.reason == "calls"
    ready = [event for event in events if isinstance(event, CallReady)]
    assert [event.number for event in ready] == list(range(len(ready)))
    assert tuple(event.call for event in ready) == end.reply.calls != ()
    assert len({event.call.id for event in ready}) == len(ready)
    for event in ready:
        pieces = [one.arguments for one in events if isinstance(one, CallDelta) and one.number == event.number]
        assert "".join(pieces) == event.call.arguments
        assert CallStarted(event.number, event.call.name) in events


def test_what_it_costs_is_always_told(world: World) -> None:
    events, _ = events_of(world.model, world.words)
    usage = next(event for event in events if isinstance(event, Usage))
    assert usage.input > 0
    assert usage.output > 0


def test_several_answers_come_in_at_once(world: World) -> None:
    ends: list[Finished] = []

    async def take(event: GatewayEvent) -> None:
        if isinstance(event, Finished):
            ends.append(event)

    async def both() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(world.model.stream, world.words, take)
            group.start_soon(world.model.stream, world.calls, take)

    anyio.run(both)
    assert {end.reason for end in ends} == {"stop", "calls"}


def test_an_error_of_the_listener_ends_the_answer_and_reaches_the_caller(world: World) -> None:
    async def take(event: GatewayEvent) -> None:
        if isinstance(event, TextDelta):
            raise KeyError("listener")

    with pytest.raises(KeyError, match="listener"):
        anyio.run(world.model.stream, world.words, take)


def test_a_cancelled_answer_stops_where_it_is(world: World) -> None:
    got: list[GatewayEvent] = []

    async def main() -> bool:
        with anyio.CancelScope() as scope:

            async def take(event: GatewayEvent) -> None:
                got.append(event)
                scope.cancel()
                await anyio.lowlevel.checkpoint()

            await world.model.stream(world.words, take)
        return scope.cancelled_caught

    assert anyio.run(main)
    assert not [event for event in got if isinstance(event, Finished)]


def test_the_list_holds_the_model_and_no_other_is_known(world: World) -> None:
    models = anyio.run(world.model.models)
    assert world.name in [model.id for model in models]
    assert {model.provider for model in models} == {world.model.provider}
    assert anyio.run(world.model.info, world.name).id == world.name
    assert world.model.context_window("no-such-model") == 0
    with pytest.raises(NotFound):
        anyio.run(world.model.info, "no-such-model")
