"""The table `api` as a request has it."""

from collections.abc import Mapping
from typing import Any, cast

from marid.core.chat import Only, Parameters, Thinking
from marid.core.checks import checked, shown_key
from marid.core.errors import BadInput
from marid.core.fields import BY_NAME, setting_of, suggestion

MEDIUM = "medium"


def parameters_from(table: Mapping[str, object]) -> Parameters:
    """What the settings `api` ask for. Raises: BadInput that names every problem."""
    problems: list[str] = []
    found = _checked("api", table, problems)
    if problems:
        raise BadInput("; ".join(problems))
    if "tool_choice" in found:
        found["tool_choice"] = _choice(found["tool_choice"])
    found["reasoning"] = _thinking(found.get("reasoning", {}))
    return Parameters(**found)


def _checked(prefix: str, table: Mapping[str, object], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, raw in table.items():
        name = f"{prefix}.{key}"
        setting = setting_of(name)
        if setting is None:
            problems.append(f"unknown key '{shown_key(name)}'{suggestion(name, BY_NAME)}")
            continue
        try:
            value = checked(setting, dict(cast("Mapping[str, object]", raw)) if isinstance(raw, Mapping) else raw)
        except BadInput as error:
            problems.append(str(error))
            continue
        inner = setting.kind == "table"
        found[key] = _checked(name, cast("Mapping[str, object]", value), problems) if inner else value
    return found


def _choice(value: Any) -> Any:
    return value if isinstance(value, str) else Only(value["function"]["name"])


def _thinking(found: Mapping[str, Any]) -> Thinking:
    """Of effort and a number of tokens the latter counts; the wish to reason, alone, is one for a medium effort."""
    wanted = dict(found)
    if "max_tokens" in found:
        wanted.pop("effort", None)
    elif found.get("enabled"):
        wanted.setdefault("effort", MEDIUM)
    return Thinking(**wanted)
