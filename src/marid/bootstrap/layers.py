"""Values of settings by name, from one place, and what is put together from several."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.core.errors import BadInput
from marid.core.fields import ADDED, BUDGET, EFFORT, RIVALS
from marid.core.settings import BadFile, Display, Settings

_MOST_PROBLEMS = 50
_TABLES = ("providers", "tools", "storage", "api", "markdown_style")


class Findings:
    """What is wrong with the settings, and what a person should know about them."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._of_files = False

    @property
    def full(self) -> bool:
        """Whether nobody would read more: a hostile file could have any number of problems."""
        return len(self.problems) >= _MOST_PROBLEMS

    def wrong_file(self, problem: str) -> None:
        """Take a problem that a file has, rather than a variable or a flag."""
        self._of_files = True
        self.problems.append(problem)

    def check(self) -> None:
        """Raises: BadInput that names every problem; BadFile when a file has one of them."""
        if self.problems:
            told = [*self.problems[:_MOST_PROBLEMS], *(["and perhaps more"] if self.full else [])]
            kind = BadFile if self._of_files else BadInput
            raise kind("the settings have problems:\n" + "\n".join(f"  {line}" for line in told))


class Layer(NamedTuple):
    """Values by name, those of tables with dots, and where each came from."""

    values: dict[str, object]
    origins: dict[str, str]

    def put(self, name: str, value: object, origin: str) -> None:
        """Set one value."""
        self.values[name] = value
        self.origins[name] = origin


def empty() -> Layer:
    """A layer that sets nothing."""
    return Layer({}, {})


def settled(layer: Layer, notes: list[str]) -> Layer:
    """A layer in which effort and a number of tokens for thoughts do not stand side by side."""
    if EFFORT in layer.values and BUDGET in layer.values:
        notes.append(f"{layer.origins[BUDGET]}: of {EFFORT} and {BUDGET} the latter counts")
        del layer.values[EFFORT]
    return layer


def put_over(below: Layer, above: Layer) -> Layer:
    """Both layers as one, where the second is the stronger; lists of what is excluded grow."""
    made = Layer(dict(below.values), dict(below.origins))
    for name, value in above.values.items():
        if rival := RIVALS.get(name):
            made.values.pop(rival, None)
        origin = above.origins[name]
        if name in made.values and name in (*ADDED, "policy"):
            origin = both(made.origins[name], origin)
        made.put(name, _merged(name, made.values.get(name), value), origin)
    return made


def both(below: str, above: str) -> str:
    """Where a value came from that two places made together."""
    return f"{below}, {above}" if below != above else above


def _merged(name: str, below: Any, above: Any) -> object:
    if name in ADDED:
        return tuple(dict.fromkeys((*(below or ()), *above)))
    return _together(below or {}, above) if name == "policy" else above


def _together(below: Mapping[str, object], above: Mapping[str, object]) -> Mapping[str, object]:
    """Two tables as one, where the second is the stronger, key by key."""
    tools = {**_table(below.get("tools")), **_table(above.get("tools"))}
    return MappingProxyType({**below, **above, **({"tools": tools} if tools else {})})


def _table(raw: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", raw) if isinstance(raw, Mapping) else {}


def settings_of(layer: Layer, home: str) -> Settings:
    """The settings, with tables in the place of names with dots."""
    return Settings(home=home, **_nested(layer.values.items()))


def display_settings_of(layer: Layer) -> Display:
    """The same for what a terminal shows."""
    return Display(**_nested(layer.values.items()))


def _nested(values: Iterable[tuple[str, object]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values:
        *above, last = name.split(".")
        table = found
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
    frozen = {name: MappingProxyType(found[name]) for name in found if name in _TABLES}
    return {**found, **frozen}
