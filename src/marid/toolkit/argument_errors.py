"""What is wrong with arguments, in words that their author can act on."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from marid.core.errors import BadInput
from marid.text.display import clip, escape_text

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_ARGUMENT_CHARACTERS = 64_000_000
_MAX_NUMBER = 1 << 53
_MAX_DEPTH = 32
_MAX_QUOTE = 60
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_TYPE_NAMES = {
    "int_": "a whole number",
    "bool_": "true or false",
    "float_": "a number",
    "string_": "a text",
    "list_": "a list",
    "tuple_": "a list",
    "dict_": "an object of names and values",
    "model_": "an object of names and values",
    "none_": "null",
}


def check_arguments(args: Mapping[str, object]) -> None:
    """Check that the arguments are plain JSON of a bearable size. Raises: BadInput that names the argument."""
    remaining = MAX_ARGUMENT_CHARACTERS
    for name, value in args.items():
        try:
            remaining -= _character_count(value, 0)
        except ValueError as error:
            raise BadInput(f"{escape_text(str(name)[:_MAX_QUOTE])}: {error}") from error
        if remaining < 0:
            raise BadInput(f"{escape_text(str(name)[:_MAX_QUOTE])}: larger than {MAX_ARGUMENT_CHARACTERS:,} characters")


def _character_count(value: object, depth: int) -> int:
    """How many characters there are in it. Raises: ValueError in words for what is not plain JSON."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise ValueError("invalid text: it holds half a character (a lone surrogate)")
        return len(value)
    if isinstance(value, list | tuple | dict):
        if depth == _MAX_DEPTH:
            raise ValueError("nested too deeply")
        parts = cast("Iterable[object]", [*value.keys(), *value.values()] if isinstance(value, dict) else value)
        return sum(_character_count(part, depth + 1) for part in parts)
    if isinstance(value, int | float) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        raise ValueError("the number is out of range" if isinstance(value, int) else "must be a finite number")
    return 0


def format_argument_error(error: "ErrorDetails", called: Mapping[str, str]) -> str:
    """One problem that pydantic found, as a line; `called` maps a parameter to the name that was used for it."""
    first, *rest = error["loc"] or ("arguments",)
    # Of an argument that may be one of several types, pydantic names the types in its path too.
    where = ".".join([called.get(str(first), str(first)), *(str(part) for part in rest if isinstance(part, int))])
    return f"{where}: {_error_text(error)}"


def _error_text(error: "ErrorDetails") -> str:
    kind, context = error["type"], error.get("ctx", {})
    given = quote_value(error["input"])
    if kind == "missing":
        return "is missing"
    if kind in ("literal_error", "enum"):
        return f"must be {context.get('expected', 'another')}, not {given}"
    if kind == "finite_number":
        return f"must be a finite number, not {given}"
    if kind.endswith(("_type", "_parsing", "_from_float", "_parsing_size")):
        for prefix, words in _TYPE_NAMES.items():
            if kind.startswith(prefix):
                return f"must be {words}, not {given}"
    words = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{words[:1].lower()}{words[1:]}, not {given}"


def quote_value(value: object) -> str:
    """A value as it may be quoted in a message: short and on one line."""
    text = repr(value) if isinstance(value, str) else _json(value)
    return escape_text(clip(text, _MAX_QUOTE + 1))


def _json(value: object) -> str:
    import json

    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return type(value).__name__
