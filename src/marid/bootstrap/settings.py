"""Settings, weak to strong: defaults, config.toml, environment, the project's .marid.toml (which may only tighten)."""

import os
import stat
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from marid.core.errors import BadInput
from marid.core.settings import LATER, SETTINGS, Setting, Settings

CONFIG = "config.toml"
PROJECT = ".marid.toml"
_MOST_BYTES = 1 << 20


def load_settings(home: str, project: str, environ: Mapping[str, str], warn: Callable[[str], None]) -> Settings:
    """The settings in force; `warn` hears of keys that mean nothing yet.

    Raises: BadInput that names every problem of every file and variable at once.
    """
    problems: list[str] = []
    values: dict[str, Any] = {}
    config = os.path.join(home, CONFIG)
    given = _toml(config, problems)
    if later := sorted(LATER & given.keys()):
        warn(f"{config}: not used yet: {', '.join(later)}")
    values |= _from_file(config, {key: raw for key, raw in given.items() if key not in LATER}, problems)
    values |= _from_environment(environ, problems)
    project = os.path.join(project, PROJECT)
    values |= _from_file(project, _toml(project, problems), problems, below=values)
    if problems:
        raise BadInput("the settings have problems:\n" + "\n".join(f"  {line}" for line in problems))
    return Settings(home=home, **values)


def _toml(path: str, problems: list[str]) -> dict[str, Any]:
    """What a file holds; nothing where there is none."""
    if not os.path.exists(path):
        return {}
    # Imported when used: most users have no such file.
    import tomllib

    try:
        return tomllib.loads(_text(path))
    except (OSError, ValueError) as error:
        problems.append(f"{path}: {error}")
    except RecursionError:
        problems.append(f"{path}: it is nested too deeply")
    return {}


def _text(path: str) -> str:
    """The text of a file that a project may have made anything of. Raises: OSError, ValueError."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no regular file")
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES:,} bytes")
    return data.decode()


def _from_file(
    path: str, given: Mapping[str, Any], problems: list[str], below: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values given in a file. With `below`, the values so far, they may only tighten those."""
    found: dict[str, Any] = {}
    for key, raw in given.items():
        setting = next((one for one in SETTINGS if key in (one.name, *one.keys)), None)
        if setting is None:
            problems.append(f"{path}: unknown key '{key}'{_suggestion(key)}")
            continue
        try:
            value = checked(setting, raw)
            if below is None:
                found[setting.name] = value
            else:
                found |= _tightened(setting, value, below)
        except BadInput as error:
            problems.append(f"{path}: {error}")
    return found


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in SETTINGS:
        # Our own name is stronger than the documents' names.
        for name in (f"MARID_{setting.name.upper()}", *setting.aliases):
            if environ.get(name) and setting.name not in found:
                try:
                    found[setting.name] = checked(setting, _parsed(setting, environ[name]))
                except BadInput as error:
                    problems.append(f"{name}: {error}")
    return found


def _parsed(setting: Setting, text: str) -> object:
    """A variable's text as a file would hold it; what makes no sense is left to the check."""
    match _default(setting):
        case bool():
            known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
            return known.get(text.lower(), text)
        case float():
            return _number(text)
        case tuple():
            # What names a port has colons in it.
            return [part for part in text.split(setting.separator or os.pathsep) if part]
        case Mapping():
            return {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split(","))}
        case _:
            return text


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def checked(setting: Setting, value: object) -> object:
    """`value` in the setting's own type.

    Raises: BadInput that says what would fit.
    """
    match _default(setting):
        case bool():
            return _fitting(setting, value, isinstance(value, bool), "true or false")
        case float():
            good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
            _fitting(setting, value, good, "a number above 0")
            return float(cast("float", value))
        case tuple():
            lines = cast("list[object]", value) if isinstance(value, list) else [None]
            _fitting(setting, cast("object", value), all(isinstance(line, str) for line in lines), "a list of texts")
            return tuple(lines)
        case Mapping():
            return _policy(setting, value)
        case _ if setting.choices:
            return _fitting(setting, value, value in setting.choices, " or ".join(setting.choices))
        case _:
            return _fitting(setting, value, isinstance(value, str), "a text")


def _policy(setting: Setting, value: object) -> Mapping[str, object]:
    """The table as it is, if it makes sense; names of tools are checked by whoever knows the tools."""
    from marid.core.policy_table import rules_from  # imported when used: most users have no such table

    _fitting(setting, value, isinstance(value, dict), "a table of verdicts")
    table = cast("dict[str, object]", value)
    rules_from(table)
    return MappingProxyType(table)


def _fitting(setting: Setting, value: object, good: bool, what: str) -> object:  # noqa: FBT001 - it is what it is about
    if not good:
        raise BadInput(f"'{setting.name}' must be {what}, not {value!r}")
    return value


def _tightened(setting: Setting, value: Any, below: Mapping[str, Any]) -> dict[str, object]:
    """What a project's own file makes of a value: it is not trusted to loosen anything."""
    current: Any = below.get(setting.name, _default(setting))
    match setting.tighten:
        case "lower":
            return {setting.name: min(value, current)}
        case "on":
            return {setting.name: value or current}
        case "add":
            if loose := [rule for rule in value if not rule.lstrip().startswith("!")]:
                raise BadInput(f"'{setting.name}' of a project may only exclude (begin with '!'), not {loose[0]!r}")
            return {setting.name: (*current, *value)}
        case "stricter" if setting.choices:
            return {setting.name: max(value, current, key=setting.choices.index)}
        case "stricter":
            return {"narrower": value}
        case _:
            raise BadInput(f"'{setting.name}' may not be set by a project")


def _default(setting: Setting) -> object:
    return getattr(Settings(), setting.name)


def _suggestion(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key, [one.name for one in SETTINGS], 1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(one.name for one in SETTINGS)}"
