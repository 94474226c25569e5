"""The values that one file, the environment or the flags set, and how such layers are merged."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.core.errors import BadInput
from marid.core.settings.schema import ADDITIVE_LISTS, BUDGET, EFFORT, EXCLUSIVE_SETTINGS
from marid.core.settings.values import BadSettingsFile

_MAX_PROBLEMS = 50


class SettingsDiagnostics:
    """The problems of all layers, which are raised together, and notes for the user."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._has_file_problem = False

    @property
    def is_full(self) -> bool:
        """Whether to stop collecting problems: a hostile file could have any number."""
        return len(self.problems) >= _MAX_PROBLEMS

    def add_file_problem(self, problem: str) -> None:
        """Add a problem of a file, as opposed to a variable or a flag."""
        self._has_file_problem = True
        self.problems.append(problem)

    def raise_problems(self) -> None:
        """Raises: BadInput with every problem; BadSettingsFile if a file has one of them."""
        if self.problems:
            lines = [*self.problems[:_MAX_PROBLEMS], *(["and perhaps more"] if self.is_full else [])]
            kind = BadSettingsFile if self._has_file_problem else BadInput
            raise kind("invalid settings:\n" + "\n".join(f"  {line}" for line in lines))


class SetValue(NamedTuple):
    """A checked value, and the file, variable or flag that set it."""

    value: Any
    origin: str


Layer = dict[str, SetValue]
"""Values by the names of settings."""


def drop_rival_effort(layer: Layer, notes: list[str]) -> Layer:
    """The layer without reasoning effort if it also has a number of tokens, with a note."""
    if EFFORT in layer and BUDGET in layer:
        notes.append(f"{layer[BUDGET].origin}: {BUDGET} overrides {EFFORT}")
        del layer[EFFORT]
    return layer


def merge_layers(layers: Iterable[Layer]) -> Layer:
    """The layers, weak to strong, as one."""
    merged: Layer = {}
    for layer in layers:
        for name, (value, origin) in layer.items():
            if rival := EXCLUSIVE_SETTINGS.get(name):
                merged.pop(rival, None)
            below = merged.get(name)
            if below and name in ADDITIVE_LISTS:
                merged[name] = SetValue(add_items(below.value, value), join_origins(below.origin, origin))
            elif below and name == "policy":
                merged[name] = SetValue(_merge_policy(below.value, value), join_origins(below.origin, origin))
            else:
                merged[name] = SetValue(value, origin)
    return merged


def add_items(below: Iterable[str], above: Iterable[str]) -> tuple[str, ...]:
    """Both lists as one without duplicates."""
    return tuple(dict.fromkeys((*below, *above)))


def join_origins(below: str, above: str) -> str:
    """The origin of a value that two layers made together."""
    return f"{below}, {above}" if below != above else above


def _merge_policy(below: Mapping[str, object], above: Mapping[str, object]) -> Mapping[str, object]:
    tools = {**_table(below.get("tools")), **_table(above.get("tools"))}
    return MappingProxyType({**below, **above, **({"tools": tools} if tools else {})})


def _table(raw: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", raw) if isinstance(raw, Mapping) else {}


def nest_tables(layer: Layer) -> dict[str, Any]:
    """The values by top-level key, with tables in place of names with dots."""
    nested: dict[str, Any] = {}
    for name, (value, _) in layer.items():
        *above, last = name.split(".")
        table = nested
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
    return {
        key: MappingProxyType(cast("Any", value)) if isinstance(value, dict) else value for key, value in nested.items()
    }
