"""The tools: found by any of their names, the ports that each needs, and which of them a caller is offered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from marid.core.errors import BadInput, NotFound
from marid.core.policy.policy import Verdict
from marid.core.suggestions import close_matches, did_you_mean
from marid.text.display import escape_text
from marid.toolkit.call_scope import CallScope
from marid.toolkit.spec import ToolSpec


class ToolSource(NamedTuple):
    """Where tools come from: this program, a plugin or a remote server."""

    name: str
    specs: Iterable[ToolSpec]


class Inventory:
    """Some tools, in their order. Raises: ValueError when two of them share a name."""

    def __init__(self, specs: Iterable[ToolSpec], warnings: Sequence[str] = ()) -> None:
        self._warnings = tuple(warnings)
        self._specs = tuple(specs)
        self._by_name = {name: spec for spec in self._specs for name in spec.names}
        if len(self._by_name) < sum(len(spec.names) for spec in self._specs):
            raise ValueError("two tools have the same name")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which tools had to be renamed or left out."""
        return self._warnings

    @classmethod
    def from_sources(cls, *sources: ToolSource) -> "Inventory":
        """The tools of all sources. A name belongs to the first tool that has it.

        A later tool of that name is called `SOURCE_NAME`; if that is taken too, it is left out. `warnings` say so.
        """
        specs: list[ToolSpec] = []
        taken: set[str] = set()
        warnings: list[str] = []
        for source in sources:
            for spec in source.specs:
                name = f"{source.name}_{spec.name}" if spec.name in taken else spec.name
                if name in taken:
                    warnings.append(f"the tool '{spec.name}' of {source.name} is left out: its name is taken")
                    continue
                if name != spec.name:
                    warnings.append(f"the tool '{spec.name}' of {source.name} is called '{name}': its name is taken")
                aliases = tuple(alias for alias in spec.aliases if alias.name not in taken | {name})
                specs.append(replace(spec, name=name, aliases=aliases))
                taken.update(specs[-1].names)
        return cls(specs, warnings)

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs)

    @property
    def families(self) -> tuple[str, ...]:
        """Every family once, in the order of their first tools."""
        return tuple(dict.fromkeys(spec.family for spec in self))

    def names(self) -> tuple[str, ...]:
        """All names; aliases follow the name of their tool."""
        return tuple(name for spec in self for name in spec.names)

    def get(self, name: str) -> ToolSpec | None:
        """The tool of that name or alias; None if there is none."""
        return self._by_name.get(name)

    def find(self, name: str) -> ToolSpec:
        """The tool of that name or alias. Raises: NotFound that names similar ones."""
        spec = self.get(name)
        if spec is None:
            near = did_you_mean(close_matches(name, self.names(), 3))
            raise NotFound(f"no tool is called '{escape_text(name[:100])}'{near}")
        return spec

    def with_families(self, families: Iterable[str]) -> "Inventory":
        """The tools of these families. Raises: BadInput for an unknown family."""
        wanted = set(families)
        if unknown := sorted(wanted.difference(self.families)):
            known = ", ".join(self.families)
            raise BadInput(f"no family is called '{escape_text(unknown[0][:100])}'; families are {known}")
        return Inventory((spec for spec in self if spec.family in wanted), self.warnings)


class LazyInventory(Inventory):
    """The tools of this program by the module that defines each, imported when one is looked up, and `others`."""

    def __init__(self, modules: Mapping[str, str], *others: ToolSource) -> None:
        self._modules = modules
        self._others = others

    @cached_property
    def _all(self) -> Inventory:
        builtin = dict.fromkeys(_load_tool(name, module) for name, module in self._modules.items())
        return Inventory.from_sources(ToolSource("builtin", builtin), *self._others)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._all.warnings

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._all)

    def names(self) -> tuple[str, ...]:
        return self._all.names() if self._others else tuple(self._modules)

    def get(self, name: str) -> ToolSpec | None:
        if name in self._modules:
            return _load_tool(name, self._modules[name])
        return self._all.get(name) if self._others else None


@cache
def load_tools(module: str) -> tuple[ToolSpec, ...]:
    """Import a module: the tools that it defines, in order."""
    return tuple(value for value in vars(import_module(module)).values() if isinstance(value, ToolSpec))


def _load_tool(name: str, module: str) -> ToolSpec:
    return next(spec for spec in load_tools(module) if name in spec.names)


class ToolDependencies(NamedTuple):
    """Ports by parameter, and the hints of the other ones. A tool is not offered without the `required` ports."""

    param_hints: Mapping[str, Any]
    required: Mapping[str, type]
    optional: Mapping[str, type]


@cache
def dependencies_of(spec: ToolSpec) -> ToolDependencies:
    """A hint that is a Protocol is a required port; `Protocol | None` is an optional one."""
    hints = get_type_hints(spec.body, include_extras=True)
    hints.pop("return", None)
    needed = {name: hint for name, hint in hints.items() if _is_port(hint)}
    wanted = {name: kind for name, hint in hints.items() if (kind := _optional_port(hint)) is not None}
    rest = {name: hint for name, hint in hints.items() if name not in needed and name not in wanted}
    return ToolDependencies(param_hints=rest, required=needed, optional=wanted)


def _is_port(hint: Any) -> bool:
    return bool(getattr(hint, "_is_protocol", False))


def _optional_port(hint: Any) -> type | None:
    if get_origin(hint) not in (Union, UnionType):
        return None
    ports = [kind for kind in get_args(hint) if kind is not NoneType]
    return ports[0] if len(ports) == 1 and _is_port(ports[0]) else None


def available_tools(specs: Iterable[ToolSpec], scope: CallScope) -> list[ToolSpec]:
    """The tools that policy does not deny to this caller, and whose ports it has."""
    return [spec for spec in specs if not is_denied(spec, scope) and missing_port(spec, scope) is None]


def is_denied(spec: ToolSpec, scope: CallScope) -> bool:
    """Whether policy denies the tool to this caller."""
    return scope.verdict(spec) is Verdict.DENY


def missing_port(spec: ToolSpec, scope: CallScope) -> type | None:
    """A port that the tool needs and this caller does not have."""
    ports = dependencies_of(spec).required.values()
    return next((port for port in ports if port not in scope.services), None)
