"""Values of settings: parsed from strings and checked. Pure, and imports little."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from marid.core.errors import BadInput
from marid.core.policy.policy import parse_rules
from marid.core.settings.colours import COLOUR_HELP, is_colour, nearest_colours
from marid.core.settings.schema import Setting, find_setting
from marid.core.suggestions import did_you_mean

_SWITCHES = MappingProxyType(
    {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
)
# The first character of a value that is written as JSON.
_JSON_OPENINGS = MappingProxyType(
    {"list": "[", "stop": "[", "policy": "{", "response_format": "{", "tool_choice": "{", "table": "{"}
)
_MAX_INTEGER = 10**15
_MAX_NUMBER = 10**300
_MAX_SHOWN = 80
_FORMATS = ("text", "json_object", "json_schema")


def flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Values by their full names, whether a table was given by names with dots, as a table or as JSON."""
    for key, raw in values.items():
        name = f"{prefix}{key}"
        setting = find_setting(name)
        inner = parse_text(setting, raw) if setting and isinstance(raw, str) else raw
        if not isinstance(inner, Mapping):
            yield name, inner
        elif setting and setting.kind == "table":
            yield from flatten(cast("Mapping[str, object]", inner), f"{name}.")
        else:
            yield name, dict(cast("Mapping[str, object]", inner))


def parse_and_check(setting: Setting, raw: object) -> object:
    """The value in the setting's own type, from a string or from what a file holds.

    Raises: BadInput that says what would fit.
    """
    return check_value(setting, parse_text(setting, raw) if isinstance(raw, str) else raw)


def parse_text(setting: Setting, text: str) -> object:
    """The string of a variable or a flag as a file would hold it; nonsense is left to `check_value`."""
    kind = setting.kind
    match kind:
        case "switch":
            return _SWITCHES.get(text.strip().lower(), text)
        case "whole" | "number":
            return _convert_number(int if kind == "whole" else float, text)
        case _ if kind in _JSON_OPENINGS and text.lstrip().startswith(_JSON_OPENINGS[kind]):
            return _load_json(text)
        case "list":
            # A host with a port contains the separator of paths.
            return [part for part in text.split(setting.separator or os.pathsep) if part]
        case "policy":
            return {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split(","))}
        case _:
            return {"type": text} if kind == "response_format" else text


def check_value(setting: Setting, raw: object) -> object:
    """`raw`, as a file holds it, in the setting's own type.

    Raises: BadInput that says what would fit.
    """
    return CHECKS[setting.kind](setting, raw)


def printable_key(key: str) -> str:
    """A key from an untrusted file, safe for a message."""
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


def _require(setting: Setting, raw: object, good: bool, what: str) -> object:  # noqa: FBT001 - the condition itself
    if good:
        return raw
    given = "" if setting.secret else f", not {_describe_value(raw)}"
    raise BadInput(f"'{printable_key(setting.name)}' must be {what}{given}")


def _describe_value(raw: object) -> str:
    """A wrong value for a message; tables and lists are not shown, as they may hold secrets."""
    match raw:
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            shown = repr(raw)
            return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."


def _check_switch(setting: Setting, raw: object) -> object:
    return _require(setting, raw, isinstance(raw, bool), "true or false")


def _check_whole(setting: Setting, raw: object) -> object:
    least = 0 if setting.minimum is None else int(setting.minimum)
    most = _MAX_INTEGER if setting.maximum is None else int(setting.maximum)
    good = isinstance(raw, int) and not isinstance(raw, bool) and least <= raw <= most
    what = f"a whole number of at least {least}" if setting.maximum is None else "a whole number"
    return _require(setting, raw, good, what)


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
        return _require(setting, raw, raw in setting.choices, " or ".join(setting.choices))
    return _require(setting, raw, isinstance(raw, str), "a string")


def _check_line(setting: Setting, raw: object) -> object:
    good = isinstance(raw, str) and bool(raw.strip()) and raw.isprintable()
    return _require(setting, raw, good, "a line of text")


def _check_url(setting: Setting, raw: object) -> object:
    """The URL without the path of the call, which Chibi wants at its end; an empty one means none."""
    url = str(_check_text(setting, raw)).strip().rstrip("/").removesuffix("/chat/completions")
    if url and (problem := url_problem(url)):
        raise BadInput(f"'{printable_key(setting.name)}' {problem}")
    return url


def _check_list(setting: Setting, raw: object) -> object:
    items = cast("list[object]", raw) if isinstance(raw, list | tuple) else [None]
    _require(setting, cast("object", raw), all(isinstance(item, str) for item in items), "a list of strings")
    return tuple(items)


def _check_stop(setting: Setting, raw: object) -> object:
    items = cast("list[object]", raw if isinstance(raw, list | tuple) else [raw])
    good = all(isinstance(item, str) and item for item in items)
    _require(setting, cast("object", raw), good, "a string or a list of strings, none of them empty")
    return tuple(items)


def _check_colour(setting: Setting, raw: object) -> object:
    if isinstance(raw, str) and not is_colour(raw) and (near := nearest_colours(raw)):
        shown = _describe_value(raw)
        raise BadInput(f"'{printable_key(setting.name)}' must be a colour, not {shown}{did_you_mean(near)}")
    return _require(setting, raw, isinstance(raw, str) and is_colour(raw), COLOUR_HELP)


def _check_policy(setting: Setting, raw: object) -> object:
    """The table itself. The names of tools are checked later, where the inventory is known."""
    table = cast("dict[str, object]", _require(setting, raw, isinstance(raw, dict), "a table of verdicts"))
    parse_rules(table)
    return MappingProxyType(table)


def _check_tool_choice(setting: Setting, raw: object) -> object:
    choices = " or ".join(setting.choices)
    if isinstance(raw, str):
        return _require(setting, raw, raw in setting.choices, f"{choices}, or a table that names a function")
    name = _as_table(_as_table(raw).get("function")).get("name")
    good = _as_table(raw).get("type") == "function" and isinstance(name, str) and bool(name)
    return _require(setting, raw, good, f'{choices} or {{type = "function", function = {{name = "..."}}}}')


def _check_response_format(setting: Setting, raw: object) -> object:
    table = _as_table(raw)
    _require(setting, raw, table.get("type") in _FORMATS, f"a table whose `type` is {' or '.join(_FORMATS)}")
    schema = _as_table(table.get("json_schema")).get("schema")
    good = table["type"] != "json_schema" or isinstance(schema, dict)
    _require(setting, raw, good, "a table with a table `json_schema`, which holds a `schema`")
    return MappingProxyType(dict(table))


def _check_table(setting: Setting, raw: object) -> object:
    # A key written to `api` by mistake for `api_key` must not be shown.
    return _require(setting._replace(secret=True), raw, isinstance(raw, dict), "a table")


def _as_table(raw: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}


CHECKS: Mapping[str, Callable[[Setting, object], object]] = MappingProxyType(
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


_ADDRESS = re.compile(
    r"https?://(?:[^\s/]*@)?(?:\[(?P<ip>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?P<host>[^\s/@:\[\]]+))"
    r"(?::(?P<port>[0-9]{0,5}))?(?:/\S*)?",
    re.IGNORECASE,
)
_DOTTED_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_MAX_PORT = 65_535
_MAX_LENGTH = 10_000


def url_problem(url: str) -> str:
    """What is wrong with a URL, as the end of a sentence; without the URL, which may hold a password."""
    if "?" in url or "#" in url:
        return "must not contain '?' or '#'"
    found = _ADDRESS.fullmatch(url) if url.isprintable() and len(url) <= _MAX_LENGTH else None
    good = found is not None and 0 < int(found["port"] or 1) <= _MAX_PORT and _is_host(found["host"], found["ip"])
    return "" if good and _has_hostname(url) else "must be an http or https URL, such as http://localhost:1234/v1"


def _is_host(host: str | None, ip: str | None) -> bool:
    """Whether a name can be looked up, or an address is valid."""
    if host and host.isascii() and not _DOTTED_NUMBERS.fullmatch(host):
        return True
    import ipaddress  # imported when used: most hosts have names

    try:
        if host is None:
            return bool(ipaddress.IPv6Address(ip or ""))
        # A name outside ASCII is looked up in this encoding.
        return bool(ipaddress.IPv4Address(host) if host.isascii() else host.encode("idna"))
    except ValueError:
        return False


def _has_hostname(url: str) -> bool:
    """Whether the URL can be split: some characters normalize to delimiters."""
    from urllib.parse import urlsplit  # imported when used: not needed to start

    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
