"""A model in memory that plays turns, and helpers to ask a scripted server."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import anyio

from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.options import GatewayOptions, RetryPolicy
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.core.model_io import (
    CallDelta,
    CallReady,
    CallStarted,
    Finished,
    GatewayEvent,
    Message,
    ModelInfo,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolOffer,
    ToolResult,
    Usage,
    message_tokens,
    request_tokens,
    user_message,
)
from marid.ports.model import Model, OnModelEvent
from marid.testing import ModelServer, Request, Step

Turn: TypeAlias = Message | MaridError | Callable[[ModelRequest], Message]

DIALECTS: tuple[Dialect, ...] = ("openai", "openrouter", "anthropic", "google")
KEY = "sk-canary-0123456789"
TREE = ToolOffer(
    name="get_tree",
    description="Show a folder.",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def answer(*parts: str | ToolCall | Reasoning) -> Message:
    """An answer of words, thoughts and calls."""
    return Message(role="assistant", parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


class FakeModel:
    """Plays `turns` in their order and keeps what it was asked; `delay` lets others run between two events."""

    provider = "fake"

    def __init__(self, *turns: Turn, window: int = 0, name: str = "fake-model") -> None:
        self._turns = list(turns)
        self._window = window
        self._name = name
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        self.asked.append(request)
        if not self._turns:
            raise Unavailable("the fake has no more turns")
        turn = self._turns.pop(0)
        if isinstance(turn, MaridError):
            raise turn
        reply = turn if isinstance(turn, Message) else turn(request)
        number = 0
        for part in reply.parts:
            await anyio.lowlevel.checkpoint()
            match part:
                case Text():
                    await on_event(TextDelta(part.text))
                case Reasoning():
                    await on_event(ReasoningDelta(part.text))
                case ToolCall():
                    await on_event(CallStarted(number, part.name))
                    await on_event(CallDelta(number, part.arguments))
                    number += 1
                case ToolResult():
                    raise TypeError("a model gives no results")
        for place, call in enumerate(reply.calls):
            await on_event(CallReady(place, call))
        await on_event(Usage(request_tokens(request), message_tokens(reply), estimated=True))
        await on_event(Finished("calls" if reply.calls else "stop", reply, self._name))

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(id=self._name, provider=self.provider, context_window=self._window),)

    async def info(self, name: str) -> ModelInfo:
        if name != self._name:
            raise NotFound(f"no model '{name}'")
        return (await self.models())[0]

    def context_window(self, name: str) -> int:
        return self._window if name == self._name else 0


class FakeSleep:
    """Sleep that only remembers how long it would have been."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def provider_at(server: ModelServer, dialect: Dialect, key: str = KEY) -> Provider:
    """The scripted server as a provider that speaks `dialect`."""
    urls = {"anthropic": server.anthropic, "google": server.google}
    return Provider(id=dialect, dialect=dialect, base_url=urls.get(dialect, server.openai), api_key=key)


def name_in(dialect: Dialect) -> str:
    """A model's name as the dialect wants it."""
    return "openai/scripted-model" if dialect == "openrouter" else "scripted-model"


def model_request(dialect: Dialect, *messages: Message, **more: object) -> ModelRequest:
    """A request with a tool on offer, by default for a simple question."""
    fields: dict[str, object] = {"system": "Be brief.", "tools": (TREE,), **more}
    return ModelRequest(model=name_in(dialect), messages=messages or (user_message("hi"),), **fields)  # pyright: ignore[reportArgumentType]


def gateway_to(server: ModelServer, dialect: Dialect, options: GatewayOptions | None = None) -> Gateway:
    """A gateway that does not wait before a retry."""
    return Gateway(provider_at(server, dialect), options or GatewayOptions(retry_policy=RetryPolicy(sleep=FakeSleep())))


def events_of(model: Model, request: ModelRequest) -> tuple[list[GatewayEvent], MaridError | None]:
    """All events, and the error at the end."""
    got: list[GatewayEvent] = []

    async def take(event: GatewayEvent) -> None:
        got.append(event)

    try:
        anyio.run(model.stream, request, take)
    except MaridError as error:
        return got, error
    return got, None


class ModelRun(NamedTuple):
    """What a request to a scripted server came to."""

    events: list[GatewayEvent]
    error: MaridError | None
    requests: tuple[Request, ...]


def play(dialect: Dialect, *steps: Step, options: GatewayOptions | None = None, **fields: object) -> ModelRun:
    """Ask a server that answers by these steps; `fields` are those of the request."""
    with ModelServer(steps) as server:
        events, error = events_of(gateway_to(server, dialect, options), model_request(dialect, **fields))
        return ModelRun(events, error, server.requests)


def finished(events: list[GatewayEvent]) -> Finished:
    """The last event, which must be the end."""
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def text_of(events: list[GatewayEvent]) -> str:
    """What a reader saw."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))
