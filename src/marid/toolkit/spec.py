"""What a tool is. Importing this, or a module of tools, costs no schema and no pydantic."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, get_args

from marid.core.policy.policy import Effect
from marid.toolkit.outcome import BodyResult

Body: TypeAlias = Callable[..., BodyResult] | Callable[..., Awaitable[BodyResult]]
SubjectFunction: TypeAlias = Callable[[Mapping[str, Any]], str]


class Alias(NamedTuple):
    """Another name of a tool; `renames` maps the parameters of its callers to ours.

    `defaults`, by our names, are what a caller by this name expects of a parameter that is left out.
    """

    name: str
    renames: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class ToolSpec:
    """One tool. Name, docstring, hints and effect of a function are the whole definition."""

    name: str
    family: str
    effect: Effect
    body: Body
    """Only the dispatcher may call it."""
    timeout: float = 30.0
    aliases: tuple[Alias, ...] = ()
    subject: SubjectFunction | None = None
    """For a tool that asks before its body: what the question names (a host), from arguments and ports."""
    unavailable: str = ""
    """Why a caller may lack a port that the tool needs, for the error that it gets."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, then its aliases'."""
        return (self.name, *(alias.name for alias in self.aliases))

    def with_alias_defaults(self, name: str, args: Mapping[str, object]) -> dict[str, object]:
        """The arguments of a call by `name`, with the defaults of that alias."""
        alias = next((one for one in self.aliases if one.name == name), Alias(name))
        renames = dict(alias.renames)
        given = {renames.get(one, one) for one in args}
        return {**args, **{own: value for own, value in alias.defaults if own not in given}}

    @property
    def description(self) -> str:
        """The whole docstring, without its indentation."""
        from inspect import getdoc  # imported when used: it costs more than all the tools

        return getdoc(self.body) or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (self.body.__doc__ or "").strip().partition("\n")[0]


def tool(  # noqa: PLR0913 - the fields of a definition
    *,
    family: str,
    effect: Effect,
    timeout: float = 30.0,
    aliases: tuple[Alias, ...] = (),
    subject: SubjectFunction | None = None,
    unavailable: str = "",
) -> Callable[[Body], ToolSpec]:
    """Make a tool of a typed function. A plain `def` runs in the worker threads, an `async def` on the loop.

    Raises: TypeError for a parameter that is a bare path: only a handle is opened through the guard.
    """

    def make(body: Body) -> ToolSpec:
        for name, hint in body.__annotations__.items():
            if _contains_path(hint):
                raise TypeError(f"{body.__name__}: '{name}' is a bare path; take a handle of marid.toolkit.handles")
        return ToolSpec(body.__name__, family, effect, body, timeout, aliases, subject, unavailable)

    return make


_PATHS = frozenset({"Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath", "PathLike"})


def _contains_path(hint: Any) -> bool:
    if isinstance(hint, str):
        return not _PATHS.isdisjoint("".join(char if char.isalnum() or char == "_" else " " for char in hint).split())
    if getattr(hint, "__name__", "") in _PATHS and getattr(hint, "__module__", "").partition(".")[0] in (
        "pathlib",
        "os",
    ):
        return True
    # What stands beside the type in Annotated is help, not a type.
    parts = get_args(hint)[:1] if hasattr(hint, "__metadata__") else get_args(hint)
    return any(_contains_path(part) for part in parts if not isinstance(part, str))
