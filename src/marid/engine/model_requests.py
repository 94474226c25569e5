"""What is asked of a model: the history, the tools and the system prompt, if they fit into its window."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from marid.core.errors import Exhausted
from marid.core.model_io import ModelRequest, Parameters, ToolOffer, request_tokens
from marid.core.policy.policy import Effect
from marid.core.round_events import WindowWarning
from marid.core.settings.values import Settings
from marid.engine.messages import provider_messages
from marid.engine.turns import Turn
from marid.toolkit.call_scope import CallScope
from marid.toolkit.inventory import Inventory, available_tools
from marid.toolkit.spec import ToolSpec

_CODING = ("shell_exec", "dir_list", "glob_files", "grep_files", "file_edit", "fetch_url")
# Categories of the documents, as families and names of ours. More than they name is on the safe side of excluding.
_CATEGORIES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "builtin": frozenset({"memory"}),
        "file": frozenset({"files"}),
        "coding": frozenset({"shell", "code", "python", "cpp", "analysis", "network", *_CODING}),
        "agent": frozenset({"agent", "spawn_agent", "summarize_content"}),
        "vfs": frozenset[str](),
        "mcp": frozenset[str](),
        "plugin": frozenset[str](),
    }
)
# The documents have two tools of this name; in settings it stands for both.
_NAME_ALIASES = MappingProxyType({"read_context": "read_conversation"})
_EFFECTS = frozenset(effect.value for effect in Effect)
_AUTOMATIC = "This is called automatically when an answer ends without a call that says who has the word next."


def filter_tools(inventory: Inventory, settings: Settings) -> Inventory:
    """The tools that settings leave: of those included, without those excluded by name, category or effect."""
    if settings.tools.no_tool_calls:
        return Inventory(())
    include = settings.tools.selection.get("include")
    wanted, exclude = _canonical_names(include or ()), _canonical_names(settings.tools.selection.get("exclude", ()))
    categories = frozenset(settings.tools.selection.get("exclude_categories", ()))
    return Inventory(
        [
            spec
            for spec in inventory
            if (include is None or not wanted.isdisjoint(spec.names))
            and exclude.isdisjoint(spec.names)
            and categories.isdisjoint(_categories(spec))
        ]
    )


def _canonical_names(given: Iterable[str]) -> frozenset[str]:
    names = tuple(given)
    return frozenset((*names, *(_NAME_ALIASES[name] for name in names if name in _NAME_ALIASES)))


def unknown_tool_names(inventory: Inventory, settings: Settings) -> tuple[str, ...]:
    """What the settings name and nobody knows: a slip of the pen there would go unnoticed."""
    tools = settings.tools.selection
    names = {*inventory.names(), *_NAME_ALIASES}
    categories = {*inventory.families, *_CATEGORIES, *_EFFECTS}
    wrong = [name for key in ("include", "exclude") for name in tools.get(key, ()) if name not in names]
    return (*wrong, *(name for name in tools.get("exclude_categories", ()) if name not in categories))


def tool_offers(inventory: Inventory, scope: CallScope, fallback: str) -> tuple[ToolOffer, ...]:
    """The tools that the scope may call, as a model reads them; the `fallback` tool says that it is called
    automatically. Makes schemas, so call it in a thread.
    """
    from marid.toolkit.params import tool_schema  # imported when used: it brings pydantic

    return tuple(
        ToolOffer(name=spec.name, description=_description(spec, fallback), schema=tool_schema(spec))
        for spec in available_tools(inventory, scope)
    )


def _description(spec: ToolSpec, fallback: str) -> str:
    return f"{spec.description}\n\n{_AUTOMATIC}" if spec.name == fallback else spec.description


def _categories(spec: ToolSpec) -> frozenset[str]:
    known = frozenset((spec.family, *spec.names))
    return frozenset(
        {spec.family, spec.effect.value, *(word for word, kin in _CATEGORIES.items() if not kin.isdisjoint(known))}
    )


_WINDOW_FULL_HINT = "To clear the window, to begin a new conversation, or a model that takes more would help"
_TOOLS_HINT = "The tools alone are {:,}: the settings `tools` and `no_tool_calls` leave them out. "


@dataclass(frozen=True, kw_only=True)
class WindowLimits:
    """How much a model takes in, tools and system prompt included; `limit` 0 is not known.

    `chosen` is a person's own limit for what is said, 0 for none. `percent` is where a warning begins.
    """

    model: str
    limit: int = 0
    user_limit: int = 0
    warn_percent: float = 80.0


WINDOW_LOOKUP_TOKENS = 1_000
"""Tokens of what is said that may fill a window which nobody knows. What is shorter is not worth a question to the
provider before every first answer: tools that do not fit with it are then told by the service itself.
"""


class RequestBuilder:
    """Builds the requests of one round, and warns once when the window is nearly full."""

    def __init__(self, window: WindowLimits, tools: tuple[ToolOffer, ...], parameters: Parameters) -> None:
        self._window = window
        self._tools = tools
        self._parameters = parameters
        self._warned = False
        self._window_known = bool(window.limit or window.user_limit)

    def needs_window(self, turns: Sequence[Turn]) -> bool:
        """Whether it should be found out how much the model takes in: nobody knows, and much was said."""
        if self._window_known:
            return False
        return (
            request_tokens(ModelRequest(model=self._window.model, messages=provider_messages(turns)))
            >= WINDOW_LOOKUP_TOKENS
        )

    def set_window(self, limit: int) -> None:
        """How much the model takes in, or 0: nobody is asked twice."""
        self._window = replace(self._window, limit=limit)
        self._window_known = True

    def set_tools(self, tools: tuple[ToolOffer, ...]) -> None:
        """Offer these from now on."""
        self._tools = tools

    def build_request(self, system: str, turns: Sequence[Turn]) -> tuple[ModelRequest, WindowWarning | None]:
        """The next request, with the warning if this is the first that nearly fills the window.

        Raises: Exhausted when it does not fit, in words that say what would help.
        """
        request = ModelRequest(
            model=self._window.model,
            messages=provider_messages(turns),
            system=system,
            tools=self._tools,
            parameters=self._parameters,
        )
        prompt = replace(request, tools=(), system="")
        warning = self._check_fits(prompt, self._window.user_limit, "context_window_limit is")
        return request, self._check_fits(request, self._window.limit, f"'{request.model}' takes") or warning

    def _check_fits(self, request: ModelRequest, limit: int, bound: str) -> WindowWarning | None:
        if limit <= 0:
            return None
        tokens = request_tokens(request)
        if tokens >= limit:
            tools = request_tokens(replace(request, messages=(), system=""))
            raise Exhausted(
                f"the window is full: the request is about {tokens:,} tokens and {bound} {limit:,}. "
                + (_TOOLS_HINT.format(tools) if tools * 2 > limit else "")
                + _WINDOW_FULL_HINT
            )
        if self._warned or tokens * 100 < limit * self._window.warn_percent:
            return None
        self._warned = True
        return WindowWarning(limit - tokens, limit)
