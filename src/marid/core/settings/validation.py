"""Values of settings: read from texts, checked, and told apart from what makes no sense. Pure, and imports little."""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from marid.core.errors import BadInput
from marid.core.settings.values import Setting, Settings, settings_by_key

_SWITCHES = MappingProxyType(
    {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
)
_KINDS = ((bool, "switch"), (int, "whole"), (float, "number"), (tuple, "list"), (Mapping, "policy"))
# How what is no plain text begins, where it may be written as JSON.
_JSON_OPENINGS = MappingProxyType(
    {"list": "[", "stop": "[", "policy": "{", "response_format": "{", "tool_choice": "{", "table": "{"}
)
_MAX_INTEGER = 10**15
_MAX_NUMBER = 10**300
_MAX_SHOWN = 80
_FORMATS = ("text", "json_object", "json_schema")


def parse_and_check(setting: Setting, raw: object) -> object:
    """A value in the setting's own type, whether it comes as a text or as it is in a file.

    Raises: BadInput that says what would fit.
    """
    return check_value(setting, parse_text(setting, raw) if isinstance(raw, str) else raw)


def parse_text(setting: Setting, text: str) -> object:
    """A variable's or a flag's text as a file would hold it; what makes no sense is left to the check."""
    kind = kind_of(setting)
    match kind:
        case "switch":
            return _SWITCHES.get(text.strip().lower(), text)
        case "whole" | "number":
            return _convert_number(int if kind == "whole" else float, text)
        case _ if kind in _JSON_OPENINGS and text.lstrip().startswith(_JSON_OPENINGS[kind]):
            return _load_json(text)
        case "list":
            # What names a port has colons in it.
            return [part for part in text.split(setting.separator or os.pathsep) if part]
        case "policy":
            return {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split(","))}
        case _:
            return {"type": text} if kind == "response_format" else text


def check_value(setting: Setting, raw: object) -> object:
    """`raw`, as a file holds it, in the setting's own type.

    Raises: BadInput that says what would fit.
    """
    return _CHECKS[kind_of(setting)](setting, raw)


def kind_of(setting: Setting) -> str:
    """What values it has."""
    default = default_of(setting)
    return setting.kind or next((kind for type, kind in _KINDS if isinstance(default, type)), "text")


def default_of(setting: Setting) -> object:
    """What is in force where nobody sets it; None for a key of a table, whose defaults its user knows."""
    return settings_by_key(Settings()).get(setting.name)


def printable_key(key: str) -> str:
    """A key that a stranger may have written, fit for a message."""
    return repr(key[:_MAX_SHOWN])[1:-1]


def _convert_number(kind: Callable[[str], object], text: str) -> object:
    try:
        return kind(text)
    except ValueError:
        return text


def _load_json(text: str) -> object:
    import json  # imported when used

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _require(setting: Setting, raw: object, good: bool, what: str) -> None:  # noqa: FBT001 - it is what it is about
    if good:
        return
    told = "" if setting.secret else f", not {_describe_value(raw)}"
    raise BadInput(f"'{printable_key(setting.name)}' must be {what}{told}")


def _describe_value(raw: object) -> str:
    """A wrong value; what is no single value is only named, for it may hold anything."""
    match raw:
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            told = repr(raw)
            return told if len(told) <= _MAX_SHOWN else f"{told[:_MAX_SHOWN]}..."


def _check_switch(setting: Setting, raw: object) -> object:
    _require(setting, raw, isinstance(raw, bool), "true or false")
    return raw


def _check_whole(setting: Setting, raw: object) -> object:
    least = 0 if setting.minimum is None else int(setting.minimum)
    most = _MAX_INTEGER if setting.maximum is None else int(setting.maximum)
    good = isinstance(raw, int) and not isinstance(raw, bool) and least <= raw <= most
    _require(setting, raw, good, f"a whole number of at least {least}" if setting.maximum is None else "a whole number")
    return raw


def _check_number(setting: Setting, raw: object) -> object:
    number = None
    if isinstance(raw, int | float) and not isinstance(raw, bool) and abs(raw) < _MAX_NUMBER:
        number = float(raw)
    if setting.minimum is None or setting.maximum is None:
        _require(setting, raw, number is not None and number > 0, "a number above 0")
    else:
        good = number is not None and setting.minimum <= number <= setting.maximum
        _require(setting, raw, good, f"a number from {setting.minimum:g} to {setting.maximum:g}")
    return number


def _check_text(setting: Setting, raw: object) -> object:
    if setting.choices:
        _require(setting, raw, raw in setting.choices, " or ".join(setting.choices))
    _require(setting, raw, isinstance(raw, str), "a text")
    return raw


def _check_line(setting: Setting, raw: object) -> object:
    good = isinstance(raw, str) and bool(raw.strip()) and raw.isprintable()
    _require(setting, raw, good, "a line of text")
    return raw


def _check_url(setting: Setting, raw: object) -> object:
    """Without the call itself at the end, which an older program wanted there; an empty one is none."""
    from marid.core.settings.provider_url import address_problem  # imported when used: most users have none

    url = str(_check_text(setting, raw)).strip().rstrip("/").removesuffix("/chat/completions")
    if url and (problem := address_problem(url)):
        raise BadInput(f"'{printable_key(setting.name)}' {problem}")
    return url


def _check_list(setting: Setting, raw: object) -> object:
    items = cast("list[object]", raw) if isinstance(raw, list | tuple) else [None]
    good = all(isinstance(item, str) for item in items)
    _require(setting, cast("object", raw), good, "a list of texts")
    return tuple(items)


def _check_stop(setting: Setting, raw: object) -> object:
    items = cast("list[object]", raw if isinstance(raw, list | tuple) else [raw])
    good = all(isinstance(item, str) and item for item in items)
    _require(setting, cast("object", raw), good, "a text or a list of texts, none of them empty")
    return tuple(items)


def _check_colour(setting: Setting, raw: object) -> object:
    from marid.core.settings.colours import (  # imported when used: most users have the usual ones
        COLOUR_HELP,
        is_colour,
        nearest_colour,
    )

    if isinstance(raw, str) and not is_colour(raw) and (near := nearest_colour(raw)):
        raise BadInput(
            f"'{printable_key(setting.name)}' must be a colour, not {_describe_value(raw)}; did you mean '{near}'?"
        )
    _require(setting, raw, isinstance(raw, str) and is_colour(raw), COLOUR_HELP)
    return raw


def _check_policy(setting: Setting, raw: object) -> object:
    """The table as it is, if it makes sense; names of tools are checked by whoever knows the tools."""
    from marid.core.policy.policy_table import parse_rules  # imported when used: most users have no such table

    _require(setting, raw, isinstance(raw, dict), "a table of verdicts")
    table = cast("dict[str, object]", raw)
    parse_rules(table)
    return MappingProxyType(table)


def _check_tool_choice(setting: Setting, raw: object) -> object:
    if isinstance(raw, str):
        _require(
            setting, raw, raw in setting.choices, " or ".join(setting.choices) + ", or a table that names a function"
        )
        return raw
    function = _as_table(raw).get("function")
    name = _as_table(function).get("name")
    good = _as_table(raw).get("type") == "function" and isinstance(name, str) and bool(name)
    _require(
        setting, raw, good, '{type = "function", function = {name = "..."}}, or one of ' + ", ".join(setting.choices)
    )
    return raw


def _check_response_format(setting: Setting, raw: object) -> object:
    table = _as_table(raw)
    _require(setting, raw, table.get("type") in _FORMATS, f"a table whose `type` is {' or '.join(_FORMATS)}")
    schema = _as_table(table.get("json_schema")).get("schema")
    good = table["type"] != "json_schema" or isinstance(schema, dict)
    _require(setting, raw, good, "a table with a table `json_schema`, which holds a `schema`")
    return MappingProxyType(dict(table))


def _check_table(setting: Setting, raw: object) -> object:
    good = isinstance(raw, dict)
    # Whoever takes `api` for `api_key` has written a key here: it is not shown.
    _require(setting._replace(secret=True), raw, good, "a table")
    return raw


def _as_table(raw: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}


_CHECKS: Mapping[str, Callable[[Setting, object], object]] = MappingProxyType(
    {
        "switch": _check_switch,
        "whole": _check_whole,
        "number": _check_number,
        "text": _check_text,
        "line": _check_line,
        "url": _check_url,
        "list": _check_list,
        "stop": _check_stop,
        "colour": _check_colour,
        "policy": _check_policy,
        "tool_choice": _check_tool_choice,
        "response_format": _check_response_format,
        "table": _check_table,
    }
)
