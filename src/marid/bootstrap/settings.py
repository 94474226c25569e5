"""Settings, weak to strong: defaults, config.toml, environment, the project's .marid.toml (which may only tighten)."""

import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from marid.core.errors import BadInput
from marid.core.settings import LATER, SETTINGS, Setting, Settings

CONFIG = "config.toml"
PROJECT = ".marid.toml"


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
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError) as error:
        problems.append(f"{path}: {error}")
        return {}


def _from_file(
    path: str, given: Mapping[str, Any], problems: list[str], below: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values given in a file. With `below`, the values so far, they may only tighten those."""
    found: dict[str, Any] = {}
    for key, raw in given.items():
        setting = next((one for one in SETTINGS if one.name == key), None)
        if setting is None:
            problems.append(f"{path}: unknown key '{key}'{_suggestion(key)}")
            continue
        try:
            value = checked(setting, raw)
            found[key] = value if below is None else _tightened(setting, value, below)
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
    default = _default(setting)
    if isinstance(default, bool):
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(text.lower(), text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            return text
    return text.split(os.pathsep) if isinstance(default, tuple) else text


def checked(setting: Setting, value: object) -> object:
    """`value` in the setting's own type.

    Raises: BadInput that says what would fit.
    """
    default = _default(setting)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise BadInput(f"'{setting.name}' must be true or false, not {value!r}")
    elif isinstance(default, float):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise BadInput(f"'{setting.name}' must be a number above 0, not {value!r}")
        return float(value)
    elif isinstance(default, tuple):
        lines = cast("list[object]", value) if isinstance(value, list) else None
        if lines is None or not all(isinstance(line, str) for line in lines):
            raise BadInput(f"'{setting.name}' must be a list of texts, not {value!r}")
        return tuple(lines)
    elif not isinstance(value, str):
        raise BadInput(f"'{setting.name}' must be a text, not {value!r}")
    return value


def _tightened(setting: Setting, value: Any, below: Mapping[str, Any]) -> object:
    """What a project's own file makes of a value: it is not trusted to loosen anything."""
    current: Any = below.get(setting.name, _default(setting))
    if setting.tighten == "lower":
        return min(value, current)
    if setting.tighten == "on":
        return value or current
    if setting.tighten == "add":
        if loose := [rule for rule in value if not rule.lstrip().startswith("!")]:
            raise BadInput(f"'{setting.name}' of a project may only exclude (begin with '!'), not {loose[0]!r}")
        return (*current, *value)
    raise BadInput(f"'{setting.name}' may not be set by a project")


def _default(setting: Setting) -> object:
    return getattr(Settings(), setting.name)


def _suggestion(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key, [one.name for one in SETTINGS], 1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(one.name for one in SETTINGS)}"
