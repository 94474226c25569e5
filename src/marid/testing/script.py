"""What the model says: turns, the requests they answer, and which step comes next."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Literal, TypeAlias, TypedDict, Unpack

from pydantic import Field

from marid.testing.faults import AtLeastOne, Count, Fault, Refusal
from marid.testing.request import Request, RequestKind
from marid.text.json_values import is_object, parse_json

ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning"]


@dataclass(frozen=True, kw_only=True)
class ScriptedCall:
    """A tool call; `arguments` is text, so it may be invalid JSON. Without an id the server makes one."""

    name: str
    arguments: str = "{}"
    id: str = ""
    pieces: int = 1

    @property
    def parsed_arguments(self) -> object:
        """The arguments as a JSON object; as text if they are not one, which no client expects."""
        value = parse_json(self.arguments)
        return value if is_object(value) else self.arguments

    def fragments(self) -> list[str]:
        """The text of the arguments in `pieces` parts."""
        size = max(1, -(-len(self.arguments) // max(1, self.pieces)))
        return [self.arguments[start : start + size] for start in range(0, len(self.arguments), size)]


@dataclass(frozen=True, kw_only=True)
class ScriptedUsage:
    """Tokens; `input` includes `cached`, `output` includes `reasoning`."""

    input: Count = 10
    output: Count = 5
    cached: Count = 0
    reasoning: Count = 0


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One reply of the model: reasoning, then text, then calls. Each piece is one event of a stream."""

    text: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    signature: str = "c2lnbmVk"
    calls: tuple[ScriptedCall, ...] = ()
    usage: ScriptedUsage | None = ScriptedUsage()
    finish: str | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def finish_reason(self) -> str:
        """`finish`, or what fits the content."""
        return self.finish or ("tool_calls" if self.calls else "stop")

    def ids(self, number: int) -> list[str]:
        """The id of each call, in the response to request `number`."""
        return [call.id or f"call_{number}_{index}" for index, call in enumerate(self.calls)]


class _TurnFields(TypedDict, total=False):
    signature: str
    usage: ScriptedUsage | None
    finish: str | None


def say(
    *text: str,
    reasoning: str | Sequence[str] = (),
    calls: Sequence[ScriptedCall] = (),
    faults: Sequence[Fault] = (),
    **fields: Unpack[_TurnFields],
) -> Turn:
    """A turn with these pieces of text; without text and calls it is an empty reply."""
    thoughts = (reasoning,) if isinstance(reasoning, str) else tuple(reasoning)
    return Turn(text=text, reasoning=thoughts, calls=tuple(calls), faults=tuple(faults), **fields)


def call(name: str, arguments: Mapping[str, object] | str = "{}", id: str = "", pieces: AtLeastOne = 1) -> ScriptedCall:
    """A call with these arguments; a string is sent unchanged."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(name=name, arguments=text, id=id, pieces=pieces)


ScriptedReply: TypeAlias = Turn | Refusal
ReplyFunction: TypeAlias = Callable[[Request], ScriptedReply]


@dataclass(frozen=True)
class ConditionalStep:
    """A step for requests of this kind that match, at most `times` (None: always); it precedes the steps in order."""

    predicate: Callable[[Request], bool]
    step: ScriptedReply | ReplyFunction
    _: KW_ONLY
    kind: RequestKind = "chat"
    times: int | None = 1


Step: TypeAlias = Turn | Refusal | ConditionalStep | ReplyFunction
when = ConditionalStep


def always(step: ScriptedReply | ReplyFunction) -> ConditionalStep:
    """A step that answers every chat request."""
    return ConditionalStep(lambda _: True, step, times=None)


@dataclass(frozen=True, kw_only=True)
class ScriptedModel:
    """A model that the server lists."""

    id: str
    context: Count = 128_000
    output: Count = 4096
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Script:
    """Steps and what else the server offers; with a `key`, requests with another key are refused.

    A `strict` script also refuses, as providers do, a conversation whose calls and results do not match.
    """

    steps: Sequence[Step] = ()
    repeat: bool = False
    models: Sequence[ScriptedModel] = (ScriptedModel(id="scripted-model"),)
    reasoning_field: ReasoningField = "reasoning_content"
    dimensions: Annotated[int, Field(ge=1, le=100_000)] = 8
    key: str | None = None
    strict: bool = False


class ScriptQueue:
    """The remaining steps: matching conditional steps come first, then the others in order. Thread-safe."""

    def __init__(self, steps: Iterable[Step], *, repeat: bool = False) -> None:
        self._lock = threading.Lock()
        self._repeat = repeat
        self._conditional: list[ConditionalStep] = []
        self._ordered: list[ScriptedReply | ReplyFunction] = []
        self.add(*steps)

    @property
    def steps_left(self) -> int:
        """How many of the steps in order are left."""
        with self._lock:
            return len(self._ordered)

    def add(self, *steps: Step) -> None:
        """Append steps."""
        with self._lock:
            self._conditional.extend(step for step in steps if isinstance(step, ConditionalStep))
            self._ordered.extend(step for step in steps if not isinstance(step, ConditionalStep))

    def next(self, request: Request) -> ScriptedReply | None:
        """The step for this request, or None; a function is called without the lock, so it may be slow."""
        step = self._take(request)
        return step(request) if callable(step) else step

    def _take(self, request: Request) -> ScriptedReply | ReplyFunction | None:
        with self._lock:
            for index, pending in enumerate(self._conditional):
                if pending.times != 0 and pending.kind == request.kind and pending.predicate(request):
                    if pending.times is not None:
                        self._conditional[index] = replace(pending, times=pending.times - 1)
                    return pending.step
            if request.kind != "chat" or not self._ordered:
                return None
            step = self._ordered.pop(0)
            if self._repeat:
                self._ordered.append(step)
            return step
