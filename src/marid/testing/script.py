"""What the model says: turns, the requests they answer, and which step comes next."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict, Unpack

from marid.testing.faults import Fault, Refusal
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

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


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


class TurnFields(TypedDict, total=False):
    """The keyword arguments of `say`."""

    reasoning: str | Sequence[str]
    signature: str
    calls: Sequence[ScriptedCall]
    usage: ScriptedUsage | None
    finish: str | None
    faults: Sequence[Fault]


def say(*text: str, **fields: Unpack[TurnFields]) -> Turn:
    """A turn with these pieces of text; without text and calls it is an empty reply."""
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
    """A call with these arguments; a string is sent unchanged."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(name=name, arguments=text, id=id, pieces=pieces)


ScriptedReply: TypeAlias = Turn | Refusal
ReplyFunction: TypeAlias = Callable[[Request], ScriptedReply]


@dataclass(frozen=True, kw_only=True)
class ConditionalStep:
    """A step for the requests that match `predicate`, at most `times` (None: always)."""

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
    """A step for requests of this kind that match; it comes before the steps in order."""
    return ConditionalStep(predicate=predicate, step=step, kind=kind, times=times)


def always(step: ScriptedReply | ReplyFunction) -> ConditionalStep:
    """A step that answers every chat request."""
    return ConditionalStep(predicate=lambda _: True, step=step, times=None)


@dataclass(frozen=True, kw_only=True)
class ScriptedModel:
    """A model that the server lists."""

    id: str
    context: int = 128_000
    output: int = 4096
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
    dimensions: int = 8
    key: str | None = None
    strict: bool = False


class _PendingStep:
    """A conditional step, and how often it may still be used."""

    def __init__(self, condition: ConditionalStep) -> None:
        self.condition = condition
        self.left = condition.times

    def fits(self, request: Request) -> bool:
        return self.left != 0 and self.condition.kind == request.kind and self.condition.predicate(request)

    def take(self) -> ScriptedReply | ReplyFunction:
        if self.left is not None:
            self.left -= 1
        return self.condition.step


class ScriptQueue:
    """The remaining steps: matching conditional steps come first, then the others in order. Thread-safe."""

    def __init__(self, steps: Iterable[Step], *, repeat: bool = False) -> None:
        self._lock = threading.Lock()
        self._repeat = repeat
        self._conditional: list[_PendingStep] = []
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
            self._conditional.extend(_PendingStep(step) for step in steps if isinstance(step, ConditionalStep))
            self._ordered.extend(step for step in steps if not isinstance(step, ConditionalStep))

    def next(self, request: Request) -> ScriptedReply | None:
        """The step for this request, or None; a function is called without the lock, so it may be slow."""
        step = self._take(request)
        return step(request) if callable(step) else step

    def _take(self, request: Request) -> ScriptedReply | ReplyFunction | None:
        with self._lock:
            for pending in self._conditional:
                if pending.fits(request):
                    return pending.take()
            if request.kind != "chat" or not self._ordered:
                return None
            step = self._ordered.pop(0)
            if self._repeat:
                self._ordered.append(step)
            return step
