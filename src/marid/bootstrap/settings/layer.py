"""Values of settings by name, from one place, and what is put together from several."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.core.errors import BadInput
from marid.core.settings.schema import ADDITIVE_LISTS, BUDGET, EFFORT, EXCLUSIVE_SETTINGS
from marid.core.settings.values import BadSettingsFile

_MAX_PROBLEMS = 50
_TABLES = ("providers", "tools", "storage", "api", "markdown_style")


class SettingsDiagnostics:
    """What is wrong with the settings, and what a person should know about them."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._has_file_problem = False

    @property
    def is_full(self) -> bool:
        """Whether nobody would read more: a hostile file could have any number of problems."""
        return len(self.problems) >= _MAX_PROBLEMS

    def add_file_problem(self, problem: str) -> None:
        """Take a problem that a file has, rather than a variable or a flag."""
        self._has_file_problem = True
        self.problems.append(problem)

    def raise_problems(self) -> None:
        """Raises: BadInput that names every problem; BadFile when a file has one of them."""
        if self.problems:
            told = [*self.problems[:_MAX_PROBLEMS], *(["and perhaps more"] if self.is_full else [])]
            kind = BadSettingsFile if self._has_file_problem else BadInput
            raise kind("the settings have problems:\n" + "\n".join(f"  {line}" for line in told))


class SettingsLayer(NamedTuple):
    """Values by name, those of tables with dots, and where each came from."""

    values: dict[str, object]
    origins: dict[str, str]

    def set_value(self, name: str, value: object, origin: str) -> None:
        """Set one value."""
        self.values[name] = value
        self.origins[name] = origin


def empty_layer() -> SettingsLayer:
    """A layer that sets nothing."""
    return SettingsLayer({}, {})


def drop_rival_effort(layer: SettingsLayer, notes: list[str]) -> SettingsLayer:
    """A layer in which effort and a number of tokens for thoughts do not stand side by side."""
    if EFFORT in layer.values and BUDGET in layer.values:
        notes.append(f"{layer.origins[BUDGET]}: of {EFFORT} and {BUDGET} the latter counts")
        del layer.values[EFFORT]
    return layer


def merge_layers(below: SettingsLayer, above: SettingsLayer) -> SettingsLayer:
    """Both layers as one, where the second is the stronger; lists of what is excluded grow."""
    made = SettingsLayer(dict(below.values), dict(below.origins))
    for name, value in above.values.items():
        if rival := EXCLUSIVE_SETTINGS.get(name):
            made.values.pop(rival, None)
        origin = above.origins[name]
        if name in made.values and name in (*ADDITIVE_LISTS, "policy"):
            origin = join_origins(made.origins[name], origin)
        made.set_value(name, _merge_value(name, made.values.get(name), value), origin)
    return made


def join_origins(below: str, above: str) -> str:
    """Where a value came from that two places made together."""
    return f"{below}, {above}" if below != above else above


def _merge_value(name: str, below: Any, above: Any) -> object:
    if name in ADDITIVE_LISTS:
        return tuple(dict.fromkeys((*(below or ()), *above)))
    return _merge_policy(below or {}, above) if name == "policy" else above


def _merge_policy(below: Mapping[str, object], above: Mapping[str, object]) -> Mapping[str, object]:
    """Two tables as one, where the second is the stronger, key by key."""
    tools = {**_table(below.get("tools")), **_table(above.get("tools"))}
    return MappingProxyType({**below, **above, **({"tools": tools} if tools else {})})


def _table(raw: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", raw) if isinstance(raw, Mapping) else {}


def nest_tables(values: Mapping[str, object]) -> dict[str, Any]:
    """The values with tables in the place of names with dots."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        *above, last = name.split(".")
        table = found
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
    frozen = {name: MappingProxyType(found[name]) for name in found if name in _TABLES}
    return {**found, **frozen}
