"""A script as JSON, for demos and programs in other languages.

    {"models": ["tiny", {"id": "big", "context": 200000, "output": 8192, "name": "Big"}],
     "reasoning_field": "reasoning", "dimensions": 8, "key": "only-this-one", "repeat": true, "strict": true,
     "turns": [
        "a reply in one piece",
        {"text": ["in ", "pieces"], "reasoning": ["I ", "see"], "finish": "length", "usage": {"input": 9, "output": 2}},
        {"calls": [{"name": "get_tree", "arguments": {"path": "."}, "id": "call_1", "pieces": 3}]},
        {"text": "slow", "faults": [{"trickle": {"size": 4, "pause": 0.05}}]},
        {"error": "rate_limit", "retry_after": 1},
        {"error": "server", "status": 502, "message": "why"},
        {"text": "only when the user said it", "match": "said it", "always": true}
     ]}

Only `turns` is required. `faults` are `stall`, `cut`, `hangup`, `insert` (`data` is text), `malformed`, `comment`,
`stream_error` (its `error` as above), `split_utf8`, `trickle`, `wrong_type`, each with the fields of its class.
`error` is one of rate_limit, unauthorized, context, server, overloaded, bad_request, unknown_model. A turn with `match`
answers requests whose last user text contains it, once, or with `always` every time.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from marid.core.errors import BadInput
from marid.testing import faults
from marid.testing.faults import STATUS, Fault, Refusal
from marid.testing.script import ConditionalStep, Script, ScriptedCall, ScriptedModel, ScriptedReply, Step, Turn, call

_Built = TypeVar("_Built")
FAULTS: Mapping[str, Callable[..., Fault]] = {
    "stall": faults.Stall,
    "cut": faults.Cut,
    "hangup": faults.Hangup,
    "insert": faults.Insert,
    "malformed": faults.malformed_event,
    "comment": faults.comment,
    "stream_error": faults.StreamError,
    "split_utf8": faults.SplitUtf8,
    "trickle": faults.Trickle,
    "wrong_type": faults.WrongType,
}


@dataclass(frozen=True, kw_only=True)
class _Condition:
    match: str | None = None
    always: bool = False


def read_script(text: str) -> Script:
    """The script in a JSON text. Raises: BadInput, which names the wrong place."""
    try:
        value = from_json(text)
    except ValueError as error:
        raise BadInput(f"the script is not JSON: {error}") from error
    fields = _table(value, "the script")
    if "steps" in fields:
        raise BadInput("the script: use `turns`, not `steps`")
    steps = _each(_step, fields.pop("turns", []), "turns")
    models = _each(_model, fields.pop("models"), "models") if "models" in fields else Script.models
    return replace(_make(Script, fields, ""), steps=steps, models=models)


def _step(value: Any, place: str) -> Step:
    if isinstance(value, str):
        return Turn(text=(value,))
    fields = _table(value, place)
    given = {name: fields.pop(name) for name in ("match", "always") if name in fields}
    condition = _make(_Condition, given, place)
    step: ScriptedReply = _refusal(fields, place) if "error" in fields else _turn(fields, place)
    if condition.match is None and not condition.always:
        return step
    text = condition.match or ""
    return ConditionalStep(lambda request: text in request.said, step, times=None if condition.always else 1)


def _turn(fields: dict[str, Any], place: str) -> Turn:
    calls = _each(_call, fields.pop("calls", []), f"{place}.calls")
    damage = _each(_fault, fields.pop("faults", []), f"{place}.faults")
    pieces = {name: [text] for name in ("text", "reasoning") if isinstance(text := fields.get(name), str)}
    return replace(_make(Turn, fields | pieces, place), calls=tuple(calls), faults=tuple(damage))


def _refusal(fields: dict[str, Any], place: str) -> Refusal:
    kind = fields.pop("error")
    if kind not in STATUS:
        raise BadInput(f"{place}.error: '{kind}' is not one of {', '.join(STATUS)}")
    return _make(Refusal, {**fields, "kind": kind}, place)


def _model(value: Any, place: str) -> ScriptedModel:
    return ScriptedModel(id=value) if isinstance(value, str) else _make(ScriptedModel, _table(value, place), place)


def _call(value: Any, place: str) -> ScriptedCall:
    return _make(call, _table(value, place), place)


def _fault(value: Any, place: str) -> Fault:
    entry = _table(value, place)
    name = next(iter(entry), "")
    if len(entry) != 1 or name not in FAULTS:
        raise BadInput(f"{place}: one name is expected, of {', '.join(FAULTS)}")
    place = f"{place}.{name}"
    fields = _table(entry[name], place)
    if name != "stream_error":
        return _make(FAULTS[name], fields, place)
    position = {"after": fields.pop("after")} if "after" in fields else {}
    refusal = _refusal({"error": "overloaded", **fields}, place)
    return replace(_make(faults.StreamError, position, place), refusal=refusal)


def _make(kind: Callable[..., _Built], fields: Mapping[str, Any], place: str) -> _Built:
    """Call `kind` with fields that fit its type hints. JSON mode takes objects and lists, but no text for a number."""
    adapter: TypeAdapter[_Built] = TypeAdapter(cast("Any", kind))
    try:
        return adapter.validate_json(json.dumps(fields), strict=True, extra="forbid")
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{place}{'.' if place else ''}{first['loc'][0]}: {first['msg']}") from error


def _each(make: Callable[[Any, str], _Built], value: Any, place: str) -> list[_Built]:
    if not isinstance(value, list):
        raise BadInput(f"{place}: a list is expected")
    return [make(entry, f"{place}[{index}]") for index, entry in enumerate(cast("list[Any]", value))]


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{place}: an object is expected")
    return dict(cast("dict[str, Any]", value))
