"""What is said to a model and what comes back, the same for every provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, cast

Role: TypeAlias = Literal["user", "assistant", "tool"]
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Text:
    """Words for the reader. `seal` is what the provider wants back with them: JSON text, opaque to everybody else.

    `bare` is what somebody has said, where `text` has more around it, and nothing where the program speaks in its own
    name; None: all of it was said.
    """

    text: str
    seal: str = ""
    user_text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reasoning:
    """What a model thought. Its seal holds the signature without which some providers take no thought back."""

    text: str
    seal: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call as the model wrote it: `arguments` is text that should be a JSON object and may be anything.

    `id` is unique within its message, whatever the provider sent.
    """

    id: str
    name: str
    arguments: str
    seal: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """The answer to the call with the id `call`."""

    call_id: str
    name: str
    text: str
    failed: bool = False


MessagePart: TypeAlias = Text | Reasoning | ToolCall | ToolResult


@dataclass(frozen=True, kw_only=True)
class Message:
    """One side's words. Results stand in a message of the role `tool`, directly after the message with their calls."""

    role: Role
    parts: tuple[MessagePart, ...]

    @property
    def text(self) -> str:
        """The words for the reader, without thoughts, calls and results."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def user_text(self) -> str:
        """The same, without what the program has put around it."""
        return "".join(
            part.text if part.user_text is None else part.user_text for part in self.parts if isinstance(part, Text)
        )

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which the model made them."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def user_message(text: str, user_text: str | None = None) -> Message:
    """What a user says; `bare` as in Text."""
    return Message(role="user", parts=(Text(text=text, user_text=user_text),))


@dataclass(frozen=True, kw_only=True)
class ToolOffer:
    """A tool as a model sees it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


class ForcedTool(NamedTuple):
    """The choice of one tool: the model must call it."""

    name: str


@dataclass(frozen=True, kw_only=True)
class ReasoningOptions:
    """How much a model should reason; `effort` is none, minimal, low, medium, high, xhigh or max.

    Of `effort` and `max_tokens` the latter counts. `exclude` keeps the thoughts from being sent.
    """

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
    """Everything that one answer is made from."""

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolOffer, ...] = ()
    parameters: Parameters = Parameters()


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """What is known about a model; 0 and None stand for what nobody told. Prices are dollars for a million tokens."""

    id: str
    provider: str
    name: str = ""
    context_window: int = 0
    max_output: int = 0
    input_price: float | None = None
    output_price: float | None = None
    more: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What else the provider's list says."""

    def common_fields(self) -> dict[str, object]:
        """What all providers have in common, None where nobody told."""
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
    """More words for the reader."""

    text: str


class ReasoningDelta(NamedTuple):
    """More of what the model thinks."""

    text: str


class CallStarted(NamedTuple):
    """A tool call begins; `number` counts the calls of this answer from 0."""

    number: int
    name: str


class CallDelta(NamedTuple):
    """More of the arguments of call `number`; the pieces of several calls may alternate."""

    number: int
    arguments: str


class CallReady(NamedTuple):
    """A call is complete. These come at the end of an answer, all calls in their order."""

    number: int
    call: ToolCall


class Usage(NamedTuple):
    """What the answer cost, in tokens. `input` includes `cached`, `output` includes `reasoning`.

    `estimated` is true when the provider gave no figures and these are ours.
    """

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False


class RetryScheduled(NamedTuple):
    """The service failed before it said anything; try number `attempt` comes in so many seconds."""

    attempt: int
    seconds: float
    why: str


class RequestNotice(NamedTuple):
    """What the person should know about the request, such as a setting that the model does not take."""

    text: str


FinishReason: TypeAlias = Literal["stop", "length", "calls", "filtered", "error"]


class Finished(NamedTuple):
    """The last event of an answer. `reply` is the whole of it, with the seals; `model` and `id` are the provider's."""

    reason: FinishReason
    reply: Message
    model: str = ""
    id: str = ""


GatewayEvent: TypeAlias = (
    TextDelta | ReasoningDelta | CallStarted | CallDelta | CallReady | Usage | RetryScheduled | RequestNotice | Finished
)


def estimate_tokens(*texts: str) -> int:
    """Some four bytes are a token: good enough for a budget, not for a bill."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return (size + BYTES_PER_TOKEN - 1) // BYTES_PER_TOKEN


def request_tokens(request: ModelRequest) -> int:
    """About how many tokens `request` is, the offered tools included."""
    tools = (text for tool in request.tools for text in (tool.name, tool.description, str(tool.schema)))
    spoken = (text for message in request.messages for part in message.parts for text in _part_texts(part))
    return estimate_tokens(request.system, *tools, *spoken)


def message_tokens(message: Message) -> int:
    """About how many tokens `message` is."""
    return estimate_tokens(*(text for part in message.parts for text in _part_texts(part)))


def _part_texts(part: MessagePart) -> tuple[str, ...]:
    match part:
        case Text() | Reasoning():
            return (part.text,)
        case ToolCall():
            return (part.name, part.arguments)
        case ToolResult():
            return (part.name, part.text)


class ReplyDraft:
    """An answer while it comes in, for who must keep what there was when the rest never came.

    It is made of events alone, so it has no seals: of a whole answer, `Finished.reply` is what goes back.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[type[Text] | type[Reasoning], list[str]]] = []

    def add(self, event: GatewayEvent) -> None:
        """Take in what belongs to the reader; other events are ignored."""
        match event:
            case TextDelta():
                self.add_text(event.text)
            case ReasoningDelta():
                self._append(Reasoning, event.text)
            case CallStarted() | CallDelta() | CallReady() | Usage() | RetryScheduled() | RequestNotice() | Finished():
                pass

    def add_text(self, text: str) -> None:
        """Take in words for the reader, which is what nearly all events are."""
        if self._parts and self._parts[-1][0] is Text:
            self._parts[-1][1].append(text)
        else:
            self._append(Text, text)

    def message(self) -> Message:
        """What there is. Unfinished calls are not part of it: nobody knows what they were to become."""
        return Message(role="assistant", parts=tuple(kind(text="".join(pieces)) for kind, pieces in self._parts))

    def _append(self, kind: type[Text] | type[Reasoning], text: str) -> None:
        if not self._parts or self._parts[-1][0] is not kind:
            self._parts.append((kind, []))
        self._parts[-1][1].append(text)
