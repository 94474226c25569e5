"""Requests to models and the events of their replies, the same for every provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, cast

Role: TypeAlias = Literal["user", "assistant", "tool"]
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Text:
    """Text for the reader. `seal` is opaque JSON that the provider wants back with it.

    `user_text` is the part of `text` that was said by someone, "" if the program itself says it; None: all of it.
    """

    text: str
    seal: str = ""
    user_text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reasoning:
    """A model's reasoning. Its seal holds the signature that some providers require."""

    text: str
    seal: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call as the model wrote it: `arguments` should be a JSON object but may be anything.

    `id` is unique within its message, whatever the provider sent.
    """

    id: str
    name: str
    arguments: str
    seal: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """The result of the call with the id `call_id`."""

    call_id: str
    name: str
    text: str
    failed: bool = False


MessagePart: TypeAlias = Text | Reasoning | ToolCall | ToolResult


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message. Results are in a message of role `tool`, directly after the message with their calls."""

    role: Role
    parts: tuple[MessagePart, ...]

    @property
    def text(self) -> str:
        """The text for the reader, without reasoning, calls and results."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def user_text(self) -> str:
        """The same, without what the program has added."""
        return "".join(
            part.text if part.user_text is None else part.user_text for part in self.parts if isinstance(part, Text)
        )

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the model's order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def user_message(text: str, user_text: str | None = None) -> Message:
    """A message of role `user`; `user_text` as in Text."""
    return Message(role="user", parts=(Text(text=text, user_text=user_text),))


@dataclass(frozen=True, kw_only=True)
class ToolOffer:
    """A tool as a model sees it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


class ForcedTool(NamedTuple):
    """The model must call this tool."""

    name: str


@dataclass(frozen=True, kw_only=True)
class ReasoningOptions:
    """How much a model should reason. `max_tokens` overrides `effort`; with `exclude` the reasoning is not returned."""

    effort: str | None = None
    max_tokens: int | None = None
    exclude: bool | None = None
    enabled: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of a request. None leaves one to the provider; unsupported ones are not sent."""

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | ForcedTool | None = None
    parallel_tool_calls: bool | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    response_format: Mapping[str, Any] | None = None
    """`{"type": "text"}`, `{"type": "json_object"}` or `{"type": "json_schema", "json_schema": {"name", "schema"}}`."""
    reasoning: ReasoningOptions = ReasoningOptions()
    prompt_caching: bool = True

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "Parameters":
        """From the settings table `api`, whose values were checked when it was read."""
        values = dict(table)
        if isinstance(choice := values.get("tool_choice"), Mapping):
            values["tool_choice"] = ForcedTool(cast("Mapping[str, Any]", choice)["function"]["name"])
        reasoning: dict[str, Any] = dict(values.pop("reasoning", {}))
        if "max_tokens" in reasoning:
            reasoning.pop("effort", None)
        elif reasoning.get("enabled"):
            reasoning.setdefault("effort", "medium")
        return cls(**values, reasoning=ReasoningOptions(**reasoning))


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One request for a reply."""

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolOffer, ...] = ()
    parameters: Parameters = Parameters()


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """What is known about a model; 0 and None mean unknown. Prices are dollars per million tokens."""

    id: str
    provider: str
    name: str = ""
    context_window: int = 0
    max_output: int = 0
    input_price: float | None = None
    output_price: float | None = None
    more: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Further fields of the provider's list."""

    def common_fields(self) -> dict[str, object]:
        """The fields that all providers have, None if unknown."""
        return {
            "id": self.id,
            "provider": self.provider,
            "name": self.name or None,
            "context_window": self.context_window or None,
            "max_output": self.max_output or None,
            "input_price": self.input_price,
            "output_price": self.output_price,
        }


class TextDelta(NamedTuple):
    """More text for the reader."""

    text: str


class ReasoningDelta(NamedTuple):
    """More reasoning."""

    text: str


class CallStarted(NamedTuple):
    """A tool call begins; `number` counts the calls of this reply from 0."""

    number: int
    name: str


class CallDelta(NamedTuple):
    """More of the arguments of call `number`; several calls may alternate."""

    number: int
    arguments: str


class CallReady(NamedTuple):
    """A call is complete. These come at the end of a reply, in the order of the calls."""

    number: int
    call: ToolCall


class Usage(NamedTuple):
    """The cost of a reply in tokens. `input` includes `cached`, `output` includes `reasoning`.

    `estimated` is true if the provider reported nothing.
    """

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False


class RetryScheduled(NamedTuple):
    """The service failed before it replied; attempt number `attempt` follows after `seconds`."""

    attempt: int
    seconds: float
    why: str


class RequestNotice(NamedTuple):
    """A note for the user about the request, such as a setting that the model does not support."""

    text: str


FinishReason: TypeAlias = Literal["stop", "length", "calls", "filtered", "error"]


class Finished(NamedTuple):
    """The last event of a reply. `reply` is all of it, with the seals; `model` and `id` are the provider's."""

    reason: FinishReason
    reply: Message
    model: str = ""
    id: str = ""


GatewayEvent: TypeAlias = (
    TextDelta | ReasoningDelta | CallStarted | CallDelta | CallReady | Usage | RetryScheduled | RequestNotice | Finished
)


def estimate_tokens(*texts: str) -> int:
    """An estimate of four bytes per token."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return (size + BYTES_PER_TOKEN - 1) // BYTES_PER_TOKEN


def request_tokens(request: ModelRequest) -> int:
    """The estimated tokens of a request, including the offered tools."""
    tools = (text for tool in request.tools for text in (tool.name, tool.description, str(tool.schema)))
    parts = (text for message in request.messages for part in message.parts for text in _part_texts(part))
    return estimate_tokens(request.system, *tools, *parts)


def message_tokens(message: Message) -> int:
    """The estimated tokens of a message."""
    return estimate_tokens(*(text for part in message.parts for text in _part_texts(part)))


def _part_texts(part: MessagePart) -> tuple[str, ...]:
    match part:
        case Text() | Reasoning():
            return (part.text,)
        case ToolCall():
            return (part.name, part.arguments)
        case ToolResult():
            return (part.name, part.text)
