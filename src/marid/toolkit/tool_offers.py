"""The tools that the settings leave to a model, and how it sees them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from marid.core.model_io import ToolOffer
from marid.core.policy.policy import Effect
from marid.core.settings.values import Settings
from marid.toolkit.call_scope import CallScope
from marid.toolkit.inventory import Inventory, available_tools
from marid.toolkit.params import tool_schema
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
_AUTOMATIC = "Called automatically when an answer ends without call_user or call_agent."


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
    """The names in the settings that no tool or category has; a typo there would go unnoticed."""
    tools = settings.tools.selection
    names = {*inventory.names(), *_NAME_ALIASES}
    categories = {*inventory.families, *_CATEGORIES, *_EFFECTS}
    wrong = [name for key in ("include", "exclude") for name in tools.get(key, ()) if name not in names]
    return (*wrong, *(name for name in tools.get("exclude_categories", ()) if name not in categories))


def tool_offers(inventory: Inventory, scope: CallScope, fallback: str) -> tuple[ToolOffer, ...]:
    """The tools that the scope may call, as a model reads them; the `fallback` tool says that it is called
    automatically. Makes schemas, so call it in a thread.
    """
    return tuple(
        ToolOffer(name=spec.name, description=_description(spec, fallback), schema=tool_schema(spec))
        for spec in available_tools(inventory, scope)
    )


def _description(spec: ToolSpec, fallback: str) -> str:
    return f"{spec.description}\n\n{_AUTOMATIC}" if spec.name == fallback else spec.description


def _categories(spec: ToolSpec) -> frozenset[str]:
    known = frozenset((spec.family, *spec.names))
    named = (name for name, members in _CATEGORIES.items() if not members.isdisjoint(known))
    return frozenset({spec.family, spec.effect.value, *named})
