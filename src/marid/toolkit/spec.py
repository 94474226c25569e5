"""What a tool is. Importing this, or a module of tools, costs no schema and no pydantic."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from marid.core.policy import Effect
from marid.toolkit.outcome import Result

Body: TypeAlias = Callable[..., Result] | Callable[..., Awaitable[Result]]
About: TypeAlias = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, kw_only=True)
class Alias:
    """Another name of a tool, for callers who know it by that one; `renames` maps their parameters to ours."""

    name: str
    renames: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """One tool. Name, docstring, hints and effect of a function are the whole definition."""

    name: str
    family: str
    effect: Effect
    body: Body
    """Only the dispatcher may call it."""
    seconds: float = 30.0
    aliases: tuple[Alias, ...] = ()
    about: About | None = None
    """What the question of a tool that asks before its body names (a host), from the parsed arguments and ports."""

    @property
    def description(self) -> str:
        """The whole docstring, without its indentation."""
        from inspect import getdoc  # imported when used: it costs more than all the tools

        return getdoc(self.body) or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (self.body.__doc__ or "").strip().partition("\n")[0]


def tool(
    *,
    family: str,
    effect: Effect,
    seconds: float = 30.0,
    aliases: tuple[Alias, ...] = (),
    about: About | None = None,
) -> Callable[[Body], ToolSpec]:
    """Make a tool of a typed function. A plain `def` runs in the worker threads, an `async def` on the loop."""

    def make(body: Body) -> ToolSpec:
        return ToolSpec(
            name=body.__name__, family=family, effect=effect, body=body, seconds=seconds, aliases=aliases, about=about
        )

    return make
