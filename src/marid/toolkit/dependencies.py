"""Which parameters of a tool are ports: given to it by whoever calls, never by a caller's arguments. No pydantic."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from marid.toolkit.spec import ToolSpec


@dataclass(frozen=True, kw_only=True)
class ToolDependencies:
    """Ports by parameter: a tool is not offered without the `needed` ones, and does with less without the `wanted`."""

    param_hints: Mapping[str, Any]
    required: Mapping[str, type]
    optional: Mapping[str, type]


@cache
def dependencies_of(spec: ToolSpec) -> ToolDependencies:
    """A hint that is a Protocol is a port; one or None is a port that is only wanted."""
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
