"""What the model will say: turns, and when each is said."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict, Unpack

from marid.testing.faults import Fault, Refusal
from marid.testing.request import Request, RequestKind
from marid.text.json_values import is_object, parse_json

ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning"]


@dataclass(frozen=True, kw_only=True)
class ScriptedCall:
    """A call of a tool; `arguments` is text, so it may be no JSON at all. Without an id the server makes one."""

    name: str
    arguments: str = "{}"
    id: str = ""
    pieces: int = 1

    @property
    def parsed_arguments(self) -> object:
        """The JSON object of the arguments; text that is not one stays text, which no client expects."""
        value = parse_json(self.arguments)
        return value if is_object(value) else self.arguments

    def fragments(self) -> list[str]:
        """The text of the arguments in `pieces` parts."""
        size = max(1, -(-len(self.arguments) // max(1, self.pieces)))
        return [self.arguments[start : start + size] for start in range(0, len(self.arguments), size)]


@dataclass(frozen=True, kw_only=True)
class ScriptedUsage:
    """Tokens; `input` includes those that were cached, `output` those of the reasoning."""

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer of the model: reasoning, then text, then calls. Each piece is one event of a stream."""

    text: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    signature: str = "c2lnbmVk"
    calls: tuple[ScriptedCall, ...] = ()
    usage: ScriptedUsage | None = ScriptedUsage()
    finish: str | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def finish_reason(self) -> str:
        """Why the model stopped, in our words: `finish`, else what fits the content."""
        return self.finish or ("tool_calls" if self.calls else "stop")

    def ids(self, number: int) -> list[str]:
        """The id of each call, in the answer to request `number`."""
        return [call.id or f"call_{number}_{place}" for place, call in enumerate(self.calls)]


class TurnFields(TypedDict, total=False):
    """What `say` takes by name."""

    reasoning: str | Sequence[str]
    signature: str
    calls: Sequence[ScriptedCall]
    usage: ScriptedUsage | None
    finish: str | None
    faults: Sequence[Fault]


def say(*text: str, **fields: Unpack[TurnFields]) -> Turn:
    """A turn with these pieces of text; with none and no calls it is an empty reply."""
    reasoning = fields.get("reasoning", ())
    return Turn(
        text=text,
        reasoning=(reasoning,) if isinstance(reasoning, str) else tuple(reasoning),
        signature=fields.get("signature", Turn.signature),
        calls=tuple(fields.get("calls", ())),
        usage=fields.get("usage", Turn.usage),
        finish=fields.get("finish"),
        faults=tuple(fields.get("faults", ())),
    )


def call(name: str, arguments: Mapping[str, object] | str = "{}", id: str = "", pieces: int = 1) -> ScriptedCall:
    """A call with these arguments; a text is sent as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(name=name, arguments=text, id=id, pieces=pieces)


ScriptedReply: TypeAlias = Turn | Refusal
ReplyFunction: TypeAlias = Callable[[Request], ScriptedReply]


@dataclass(frozen=True, kw_only=True)
class ConditionalStep:
    """A step for the requests that `predicate` holds for, so many times (None: always)."""

    predicate: Callable[[Request], bool]
    step: ScriptedReply | ReplyFunction
    kind: RequestKind = "chat"
    times: int | None = 1


Step: TypeAlias = Turn | Refusal | ConditionalStep | ReplyFunction


def when(
    predicate: Callable[[Request], bool],
    step: ScriptedReply | ReplyFunction,
    *,
    kind: RequestKind = "chat",
    times: int | None = 1,
) -> ConditionalStep:
    """A step that is played, before those in order, for a request of this kind that the predicate holds for."""
    return ConditionalStep(predicate=predicate, step=step, kind=kind, times=times)


def always(step: ScriptedReply | ReplyFunction) -> ConditionalStep:
    """A step that answers every request for a reply."""
    return ConditionalStep(predicate=lambda _: True, step=step, times=None)


@dataclass(frozen=True, kw_only=True)
class ScriptedModel:
    """A model that the server says it has."""

    id: str
    context: int = 128_000
    output: int = 4096
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Script:
    """Steps and what else the server has to offer; with a `key`, whoever shows another is refused.

    A `strict` one also refuses, as providers do, a conversation in which calls and results do not go together.
    """

    steps: Sequence[Step] = ()
    repeat: bool = False
    models: Sequence[ScriptedModel] = (ScriptedModel(id="scripted-model"),)
    reasoning_field: ReasoningField = "reasoning_content"
    dimensions: int = 8
    key: str | None = None
    strict: bool = False
