"""Values of a script's fields, held against the types of what is made of them."""

import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast, get_args, get_origin

from marid.core.errors import BadInput

_MAX = 10**15
# Where any count, from 0, would be too much to take.
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
# What stands in the head of an answer, where the end of a line begins another header.
_HEADER_FIELDS = frozenset({"headers", "kind", "retry_after"})
_PLAIN: Mapping[object, str] = types.MappingProxyType(
    {str: "a text", bytes: "a text", bool: "true or false", types.NoneType: "null"}
)


def check_fields(kind: Callable[..., object], fields: Mapping[str, Any], place: str) -> None:
    """Names that `kind` does not have are left to its call.

    Raises: BadInput naming the field, and what is expected there.
    """
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
