"""Values held against a JSON schema: what the schema says is what is accepted."""

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, cast

from marid.core.errors import BadInput
from marid.text.conversation_names import check_conversation_name

CONVERSATION = "conversation-name"
_MAX_QUOTED = 20


def type_name(value: object) -> str:
    """What a value is, in words."""
    return next(words for words, fits in _TYPES.values() if fits(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, tuple[str, Callable[[object], bool]]] = MappingProxyType(
    {
        "object": ("an object", lambda value: isinstance(value, dict)),
        "array": ("an array", lambda value: isinstance(value, list)),
        "string": ("a text", lambda value: isinstance(value, str)),
        "boolean": ("true or false", lambda value: isinstance(value, bool)),
        "integer": ("a whole number", lambda value: _is_number(value) and value == int(cast("float", value))),
        "number": ("a number", _is_number),
        "null": ("null", lambda value: value is None),
    }
)


def check_schema(value: object, schema: Mapping[str, Any], path: str) -> None:
    """Of JSON schema it knows what ours use: type, enum, anyOf, properties, required, additionalProperties, items,
    pattern, minimum, maximum, and the format of a conversation's name.

    Raises: BadInput that names the place, what would fit there and, of a name that is unknown, the nearest known one.
    """
    _check_type(value, schema, path)
    if "anyOf" in schema and not any(_matches(value, one, path) for one in schema["anyOf"]):
        raise BadInput(f"'{path}' must be {schema.get('description', 'another value')}")
    if "enum" in schema and value not in schema["enum"]:
        raise BadInput(
            f"'{path}' must be {_join_alternatives(schema['enum'])}, "
            f"not {_describe_value(value)}{suggestion(value, schema['enum'])}"
        )
    match value:
        case dict():
            _check_object(cast("dict[str, object]", value), schema, path)
        case list():
            for place, item in enumerate(cast("list[object]", value)):
                check_schema(item, schema.get("items", {}), f"{path}[{place}]")
        case str():
            _check_text(value, schema, path)
        case int() | float():
            _check_number(value, schema, path)
        case _:
            pass


def suggestion(word: object, words: Collection[str | None]) -> str:
    """What was probably meant, as the end of a message; without any likeness nothing."""
    import difflib  # imported when used: only a mistake needs it

    found = difflib.get_close_matches(str(word), [one for one in words if one], 1)
    return f"; did you mean '{found[0]}'?" if found else ""


def _matches(value: object, schema: Mapping[str, Any], path: str) -> bool:
    try:
        check_schema(value, schema, path)
    except BadInput:
        return False
    return True


def _check_type(value: object, schema: Mapping[str, Any], path: str) -> None:
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if kinds and not any(_TYPES[kind][1](value) for kind in kinds):
        # In the place of a table, any text may be a key.
        found = "this text" if isinstance(value, str) else _describe_value(value)
        raise BadInput(f"'{path}' must be {_join_alternatives([_TYPES[kind][0] for kind in kinds])}, not {found}")


def _check_object(value: dict[str, object], schema: Mapping[str, Any], path: str) -> None:
    known: Mapping[str, Any] = schema.get("properties", {})
    rest: Any = schema.get("additionalProperties", True)
    for name, item in value.items():
        place = f"{path}.{name[:100]}" if path else name[:100]
        if name in known:
            check_schema(item, known[name], place)
        elif rest is False:
            fits = suggestion(name, known) or f"; there are {', '.join(known)}"
            raise BadInput(f"'{place}' is not known{fits}")
        elif isinstance(rest, Mapping):
            check_schema(item, cast("Mapping[str, Any]", rest), place)
    if missing := [name for name in schema.get("required", ()) if name not in value]:
        raise BadInput(f"'{f'{path}.' if path else ''}{missing[0]}' is missing")


def _check_text(value: str, schema: Mapping[str, Any], path: str) -> None:
    if schema.get("format") == CONVERSATION:
        check_conversation_name(value)
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        raise BadInput(f"'{path}' must be {schema.get('description', 'another text')}")


def _check_number(value: float, schema: Mapping[str, Any], path: str) -> None:
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        limits = [f"{words} {schema[name]:,}" for name, words in _LIMITS.items() if name in schema]
        raise BadInput(f"'{path}' must be {' and '.join(limits)}, not {value}")


_LIMITS = {"minimum": "at least", "maximum": "at most"}


def _join_alternatives(words: Collection[object]) -> str:
    return " or ".join("null" if word is None else str(word) for word in words)


def _describe_value(value: object) -> str:
    """Only the kind of a text: it may be a key, and whoever sent it knows what it was."""
    match value:
        case str():
            return f"'{value}'" if value.isidentifier() and len(value) < _MAX_QUOTED else "this text"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)[:_MAX_QUOTED]
        case _:
            return type_name(value)
