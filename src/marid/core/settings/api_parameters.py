"""The table `api` as a request has it."""

from collections.abc import Mapping
from typing import Any, cast

from marid.core.errors import BadInput
from marid.core.model_io import ForcedTool, Parameters, ReasoningOptions
from marid.core.settings.schema import SETTINGS_BY_NAME, find_setting, suggestion
from marid.core.settings.validation import check_value, printable_key

DEFAULT_EFFORT = "medium"


def parameters_from(table: Mapping[str, object]) -> Parameters:
    """What the settings `api` ask for. Raises: BadInput that names every problem."""
    problems: list[str] = []
    found = _check_fields("api", table, problems)
    if problems:
        raise BadInput("; ".join(problems))
    if "tool_choice" in found:
        found["tool_choice"] = _forced_or_mode(found["tool_choice"])
    found["reasoning"] = _reasoning_options(found.get("reasoning", {}))
    return Parameters(**found)


def _check_fields(prefix: str, table: Mapping[str, object], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, raw in table.items():
        name = f"{prefix}.{key}"
        setting = find_setting(name)
        if setting is None:
            problems.append(f"unknown key '{printable_key(name)}'{suggestion(name, SETTINGS_BY_NAME)}")
            continue
        try:
            value = check_value(setting, dict(cast("Mapping[str, object]", raw)) if isinstance(raw, Mapping) else raw)
        except BadInput as error:
            problems.append(str(error))
            continue
        inner = setting.kind == "table"
        found[key] = _check_fields(name, cast("Mapping[str, object]", value), problems) if inner else value
    return found


def _forced_or_mode(value: Any) -> Any:
    return value if isinstance(value, str) else ForcedTool(value["function"]["name"])


def _reasoning_options(found: Mapping[str, Any]) -> ReasoningOptions:
    """Of effort and a number of tokens the latter counts; the wish to reason, alone, is one for a medium effort."""
    wanted = dict(found)
    if "max_tokens" in found:
        wanted.pop("effort", None)
    elif found.get("enabled"):
        wanted.setdefault("effort", DEFAULT_EFFORT)
    return ReasoningOptions(**wanted)
