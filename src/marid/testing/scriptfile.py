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
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from marid.core.errors import BadInput
from marid.testing.faults import (
    STATUS,
    Cut,
    Fault,
    Hangup,
    Insert,
    Refusal,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
    comment,
    malformed_event,
)
from marid.testing.script import ConditionalStep, Script, ScriptedModel, ScriptedReply, ScriptedUsage, Step, Turn, call

_Built = TypeVar("_Built")
_WHOLE = "the script"
_MAX = 10**15
# Where not every count from 0 is accepted.
_LIMITS: Mapping[str, tuple[int, int]] = types.MappingProxyType(
    {
        "dimensions": (1, 100_000),
        "pause": (0, 86_400),
        "pieces": (1, _MAX),
        "retry_after": (0, _MAX),
        "size": (1, _MAX),
        "status": (200, 599),
    }
)
# Sent in the head of a response, where a line break would begin another header.
_HEADER_FIELDS = frozenset({"headers", "kind", "retry_after"})
_PLAIN: Mapping[object, str] = types.MappingProxyType(
    {str: "a text", bytes: "a text", bool: "true or false", types.NoneType: "null"}
)


def read_script(text: str) -> Script:
    """The script in a JSON text. Raises: BadInput, which names the wrong place."""
    fields = _table(_parse_json(text), _WHOLE)
    if "steps" in fields:
        raise BadInput("the script: use `turns`, not `steps`")
    turns = [_step(turn, f"turns[{place}]") for place, turn in enumerate(_list(fields.pop("turns", []), "turns"))]
    if "models" in fields:
        entries = enumerate(_list(fields["models"], "models"))
        fields["models"] = [_model(entry, f"models[{place}]") for place, entry in entries]
    return _make(Script, {**fields, "steps": turns}, _WHOLE)


def _parse_json(text: str) -> Any:
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadInput("the script has half of a character in it, which cannot be sent") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the script is not JSON: {error}") from error
    return found


def _step(value: Any, place: str) -> Step:
    if isinstance(value, str):
        return Turn(text=(value,))
    fields = _table(value, place)
    match, always = fields.pop("match", None), fields.pop("always", False)
    check_fields(_when, {"match": match, "always": always}, place)
    step: ScriptedReply = _refusal(fields, place) if "error" in fields else _turn(fields, place)
    if match is None and not always:
        return step
    return _when(match, step, always=always)


def _when(match: str | None, step: ScriptedReply, *, always: bool) -> ConditionalStep:
    text = match or ""
    return ConditionalStep(predicate=lambda request: text in request.said, step=step, times=None if always else 1)


def _turn(fields: dict[str, Any], place: str) -> Turn:
    for name in ("text", "reasoning"):
        fields[name] = _pieces(fields.get(name, []), f"{place}.{name}")
    calls = enumerate(_list(fields.get("calls", []), f"{place}.calls"))
    faults = enumerate(_list(fields.get("faults", []), f"{place}.faults"))
    fields["calls"] = tuple(
        _make(call, _table(entry, f"{place}.calls[{at}]"), f"{place}.calls[{at}]") for at, entry in calls
    )
    fields["faults"] = tuple(_fault(entry, f"{place}.faults[{at}]") for at, entry in faults)
    if fields.get("usage") is not None:
        fields["usage"] = _make(ScriptedUsage, _table(fields["usage"], f"{place}.usage"), f"{place}.usage")
    return _make(Turn, fields, place)


def _refusal(fields: dict[str, Any], place: str) -> Refusal:
    kind = fields.pop("error")
    if kind not in STATUS:
        raise BadInput(f"{place}.error: '{kind}' is not one of {', '.join(STATUS)}")
    return _make(Refusal, {**fields, "kind": kind}, place)


def _model(value: Any, place: str) -> ScriptedModel:
    return ScriptedModel(id=value) if isinstance(value, str) else _make(ScriptedModel, _table(value, place), place)


FAULTS: Mapping[str, Callable[..., Fault]] = {
    "stall": Stall,
    "cut": Cut,
    "hangup": Hangup,
    "insert": Insert,
    "malformed": malformed_event,
    "comment": comment,
    "stream_error": StreamError,
    "split_utf8": SplitUtf8,
    "trickle": Trickle,
    "wrong_type": WrongType,
}


def _fault(value: Any, place: str) -> Fault:
    entry = _table(value, place)
    name = next(iter(entry), "")
    if len(entry) != 1 or name not in FAULTS:
        raise BadInput(f"{place}: one name is expected, of {', '.join(FAULTS)}")
    fields = _table(entry[name], f"{place}.{name}")
    if isinstance(fields.get("data"), str):
        fields["data"] = fields["data"].encode()
    if name == "stream_error":
        after = {"after": fields.pop("after")} if "after" in fields else {}
        fields = {**after, "refusal": _refusal({"error": "overloaded", **fields}, f"{place}.{name}")}
    return _make(FAULTS[name], fields, f"{place}.{name}")


def _make(kind: Callable[..., _Built], fields: Mapping[str, Any], place: str) -> _Built:
    check_fields(kind, fields, "" if place == _WHOLE else place)
    try:
        return kind(**fields)
    except TypeError as error:
        # Python's message begins with the name of the function.
        raise BadInput(f"{place}: {str(error).partition('() ')[2] or error}") from error


def _pieces(value: Any, place: str) -> tuple[str, ...]:
    pieces = [value] if isinstance(value, str) else _list(value, place)
    if not all(isinstance(piece, str) for piece in pieces):
        raise BadInput(f"{place}: a text or a list of texts is expected")
    return tuple(pieces)


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{place}: an object is expected")
    return dict(cast("dict[str, Any]", value))


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput(f"{place}: a list is expected")
    return cast("list[Any]", value)


def check_fields(kind: Callable[..., object], fields: Mapping[str, Any], place: str) -> None:
    """Check the fields against the type hints of `kind`; calling it rejects unknown names. Raises: BadInput."""
    hints = typing.get_type_hints(kind)
    for name, value in fields.items():
        options = _options(hints[name]) if name in hints else ()
        if options and not any(_fits(value, option, name) for option in options):
            expected = " or ".join(dict.fromkeys(_expected_text(option, name) for option in options))
            raise BadInput(f"{f'{place}.' if place else ''}{name}: {expected} is expected")


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _fits(value: Any, option: Any, name: str) -> bool:
    if option in (int, float):
        low, high = _LIMITS.get(name, (0, _MAX))
        numeric = isinstance(value, option | int) and not isinstance(value, bool)
        return numeric and low <= value <= high
    if option is str:
        return isinstance(value, str) and (name not in _HEADER_FIELDS or _is_header_text(value))
    if get_origin(option) is Literal:
        return value in get_args(option)
    if get_origin(option) is Mapping:
        return isinstance(value, Mapping) and _values_fit(cast("Mapping[str, Any]", value), option, name)
    return isinstance(value, get_origin(option) or option)


def _values_fit(value: Mapping[str, Any], option: Any, name: str) -> bool:
    inner = get_args(option)[1]
    keys = name not in _HEADER_FIELDS or all(map(_is_header_text, value))
    return keys and (inner is object or all(_fits(one, inner, name) for one in value.values()))


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _expected_text(option: Any, name: str) -> str:
    if option in (int, float):
        what = "a whole number" if option is int else "a number"
        low, high = _LIMITS.get(name, (0, _MAX))
        return f"{what} from {low} to {high}" if high < _MAX else f"{what} of at least {low}"
    if get_origin(option) is Literal:
        return " or ".join(get_args(option))
    if get_origin(option) is Mapping:
        return "an object" if get_args(option)[1] is object else "an object of texts"
    if option is str and name in _HEADER_FIELDS:
        return "a line of ASCII"
    return _PLAIN.get(option, "nothing, as a file cannot name it,")
