"""JSON from outside: parsed strictly, then checked against a JSON schema, with every problem in one BadInput.

Every face that takes JSON uses this: `parse_json`, then `schema_problems` with the schema that it also publishes.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, NoReturn, cast

from marid.core.errors import BadInput
from marid.core.suggestions import close_matches, did_you_mean
from marid.text.conversation_names import check_conversation_name

CONVERSATION = "conversation-name"
"""The schema format of a conversation's name."""
MAX_DEPTH = 100
_MAX_PROBLEMS = 20
_MAX_QUOTED = 20
_MAX_KEY = 100


def parse_json(text: str, what: str) -> object:
    """The value of a JSON text in which no two parsers could see different values.

    Raises: BadInput for duplicate keys, numbers and characters that JSON does not have, and deep nesting.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_reject_duplicate_keys, parse_constant=_reject_constant, parse_float=_parse_finite
        )
        # JSON can spell half of a surrogate pair, which UTF-8 output cannot hold.
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise BadInput(f"{what} is nested too deeply") from error
    except UnicodeEncodeError as error:
        raise BadInput(f"{what} contains half of a surrogate pair") from error
    except ValueError as error:
        raise BadInput(f"{what} is not valid JSON: {error}") from error
    if _depth(value) > MAX_DEPTH:
        raise BadInput(f"{what} is nested too deeply")
    return value


def _depth(value: object) -> int:
    """Counted level by level, without recursion."""
    depth = 0
    level = [value]
    while level := [child for one in level for child in _children(one)]:
        depth += 1
    return depth


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"duplicate key '{name[:_MAX_KEY]}'")
        found[name] = value
    return found


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def _parse_finite(word: str) -> float:
    if not math.isfinite(number := float(word)):
        raise ValueError(f"{word[:40]} is too large for a number")
    return number


def type_name(value: object) -> str:
    """The JSON type of a value, for messages."""
    return next(words for words, fits in _TYPES.values() if fits(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, tuple[str, Callable[[object], bool]]] = MappingProxyType(
    {
        "object": ("an object", lambda value: isinstance(value, dict)),
        "array": ("an array", lambda value: isinstance(value, list)),
        "string": ("a string", lambda value: isinstance(value, str)),
        "boolean": ("true or false", lambda value: isinstance(value, bool)),
        "integer": ("a whole number", lambda value: _is_number(value) and value == int(cast("float", value))),
        "number": ("a number", _is_number),
        "null": ("null", lambda value: value is None),
    }
)


def raise_problems(problems: Iterator[str]) -> None:
    """Raises: BadInput with the first problems, if there are any."""
    if found := list(islice(problems, _MAX_PROBLEMS)):
        raise BadInput("; ".join(found))


def schema_problems(value: object, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    """Each problem with its path, what would fit, and the closest known name.

    Knows type, enum, anyOf, properties, required, additionalProperties, items, pattern, minimum, maximum, and the
    format of a conversation's name.
    """
    if problem := _type_problem(value, schema, path):
        yield problem
        return
    yield from _choice_problems(value, schema, path)
    match value:
        case dict():
            yield from _object_problems(cast("dict[str, object]", value), schema, path)
        case list():
            for place, item in enumerate(cast("list[object]", value)):
                yield from schema_problems(item, schema.get("items", {}), f"{path}[{place}]")
        case str():
            yield from _text_problems(value, schema, path)
        case int() | float():
            yield from _number_problems(value, schema, path)
        case _:
            pass


def _choice_problems(value: object, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if "anyOf" in schema and all(any(schema_problems(value, one, path)) for one in schema["anyOf"]):
        yield f"'{path}' must be {schema.get('description', 'another value')}"
    if "enum" in schema and value not in schema["enum"]:
        near = did_you_mean(close_matches(str(value), filter(None, schema["enum"])))
        yield f"'{path}' must be {_join_alternatives(schema['enum'])}, not {_describe_value(value)}{near}"


def _type_problem(value: object, schema: Mapping[str, Any], path: str) -> str:
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if not kinds or any(_TYPES[kind][1](value) for kind in kinds):
        return ""
    # A string in the place of something else may be a secret.
    found = "this string" if isinstance(value, str) else _describe_value(value)
    return f"'{path}' must be {_join_alternatives([_TYPES[kind][0] for kind in kinds])}, not {found}"


def _object_problems(value: dict[str, object], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    known: Mapping[str, Any] = schema.get("properties", {})
    rest: Any = schema.get("additionalProperties", True)
    prefix = f"{path}." if path else ""
    for name, item in value.items():
        place = f"{prefix}{name[:_MAX_KEY]}"
        if name in known:
            yield from schema_problems(item, known[name], place)
        elif rest is False:
            near = did_you_mean(close_matches(name, known))
            yield f"unknown key '{place}'{near or '; known keys: ' + ', '.join(known)}"
        elif isinstance(rest, Mapping):
            yield from schema_problems(item, cast("Mapping[str, Any]", rest), place)
    yield from (f"'{prefix}{name}' is missing" for name in schema.get("required", ()) if name not in value)


def _text_problems(value: str, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if schema.get("format") == CONVERSATION:
        try:
            check_conversation_name(value)
        except BadInput as error:
            yield str(error)
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"'{path}' must be {schema.get('description', 'another string')}"


def _number_problems(value: float, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        words = (("minimum", "at least"), ("maximum", "at most"))
        limits = [f"{word} {schema[name]:,}" for name, word in words if name in schema]
        yield f"'{path}' must be {' and '.join(limits)}, not {value}"


def _join_alternatives(words: Collection[object]) -> str:
    return " or ".join("null" if word is None else str(word) for word in words)


def _describe_value(value: object) -> str:
    """A value for a message. Strings that may be secrets are not shown."""
    match value:
        case str():
            return f"'{value}'" if value.isidentifier() and len(value) < _MAX_QUOTED else "this string"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)[:_MAX_QUOTED]
        case _:
            return type_name(value)
