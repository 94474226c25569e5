"""The keys of the settings that are tables, and every setting by its name. Imported when something is set."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import cast

from marid.core.settings.validation import parse_text
from marid.core.settings.values import DISPLAY_SETTINGS, SETTINGS, Setting

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_NOT_SENT = "not sent unless it is set, for a model may refuse it"
ANY_PROVIDER = "*"
"""Stands for any id, in the names of keys below `providers`."""

API = (
    Setting("api.temperature", "how freely the model chooses", kind="number", minimum=0, maximum=2),
    Setting("api.max_tokens", "most tokens of one answer", kind="whole", minimum=1),
    Setting("api.top_p", "the share of likely words that it chooses from", kind="number", minimum=0, maximum=1),
    Setting("api.stop", "texts at which the answer ends", kind="stop", separator=","),
    Setting("api.tool_choice", 'auto, none, required, or one tool: {type = "function", function = {name = "..."}}',
            kind="tool_choice", choices=("auto", "none", "required")),
    Setting("api.parallel_tool_calls", f"let the model call several tools at once; {_NOT_SENT}", kind="switch"),
    Setting("api.frequency_penalty", "discourages what was said often", kind="number", minimum=-2, maximum=2),
    Setting("api.presence_penalty", "discourages what was said at all", kind="number", minimum=-2, maximum=2),
    Setting("api.seed", "the same seed gives the same answer, where a provider can do that", kind="whole",
            minimum=-(2**63), maximum=2**63 - 1),
    Setting("api.response_format", 'a table with `type`: text, json_object, or json_schema with a table `json_schema`',
            kind="response_format"),
    Setting("api.prompt_caching", "let the provider keep what does not change between requests", kind="switch"),
    Setting("api.reasoning", "how much the model reasons", kind="table"),
    Setting("api.reasoning.effort", f"{', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}; {_NOT_SENT}", kind="text",
            choices=EFFORTS),
    Setting("api.reasoning.max_tokens", "most tokens for thoughts; stronger than effort", kind="whole", minimum=0),
    Setting("api.reasoning.exclude", "keep the thoughts from being sent", kind="switch"),
    Setting("api.reasoning.enabled", "whether the model reasons; alone it means medium effort", kind="switch"),
)  # fmt: skip

STORAGE = (
    Setting("storage.partition_max_entries", "entries of one partition, at least 1", kind="whole"),
    Setting("storage.partition_max_age_seconds", "its age in seconds, at least 60", kind="whole"),
    Setting("storage.partition_max_tokens", "its estimated tokens, at least 1", kind="whole"),
    Setting("storage.bytes_per_token", "how tokens are estimated, at least 1", kind="whole"),
    Setting("storage.enable_bloom_filters", "keep filters by which searches skip partitions", kind="switch"),
)

TOOLS = (
    Setting("tools.include", "only these tools", kind="list", separator=","),
    Setting("tools.exclude", "not these tools", kind="list", separator=","),
    Setting("tools.exclude_categories", "no tools of these families or effects", kind="list", separator=","),
)

PROVIDER = (
    Setting(f"providers.{ANY_PROVIDER}.base_url", "where it is, with the /v1", kind="url"),
    Setting(f"providers.{ANY_PROVIDER}.api_key", "its key", kind="text", secret=True),
    Setting(f"providers.{ANY_PROVIDER}.model", "the model that is asked when this provider is chosen", kind="text"),
)

_COLOURS = """
    h1 h2 h3 h4 h5 h6 code_bg code_label bullet table_header_bg table_border blockquote_border think_border hr link_url
    image_marker footnote
"""
STYLE = tuple(
    Setting(f"markdown_style.{name}", "a colour's name, or #RRGGBB", kind="colour") for name in _COLOURS.split()
)

EFFORT, BUDGET = "api.reasoning.effort", "api.reasoning.max_tokens"
EXCLUSIVE_SETTINGS = MappingProxyType({EFFORT: BUDGET, BUDGET: EFFORT})
"""Whoever sets one of two that exclude each other does not want the other any more."""

ADDITIVE_LISTS = ("tools.exclude", "tools.exclude_categories")
"""Lists of what is excluded grow: a stronger place adds to what a weaker one says."""

TABLE_SETTINGS = (*PROVIDER, *TOOLS, *STORAGE, *API)
SETTINGS_BY_NAME = MappingProxyType({one.name: one for one in (*SETTINGS, *TABLE_SETTINGS)})
DISPLAY_BY_NAME = MappingProxyType({one.name: one for one in (*DISPLAY_SETTINGS, *STYLE)})
_BY_FILE_KEY = MappingProxyType({key: one for one in SETTINGS for key in one.keys})


def find_setting(name: str) -> Setting | None:
    """The setting of that name, or of that other name; also for the ids of providers, which are anybody's choice."""
    found = SETTINGS_BY_NAME.get(name) or _BY_FILE_KEY.get(name)
    if found or not name.startswith("providers."):
        return found
    _, id, *field = name.split(".")
    if not id or len(field) > 1:
        return None
    if not field:
        return Setting(name, "one provider", kind="table")
    row = SETTINGS_BY_NAME.get(f"providers.{ANY_PROVIDER}.{field[0]}")
    return row and row._replace(name=name)


def find_display_setting(name: str) -> Setting | None:
    """The same for the keys of cli.toml."""
    return DISPLAY_BY_NAME.get(name)


def flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Keys of tables by their names with dots, in whichever way they came: with dots, as tables, as JSON."""
    for key, raw in values.items():
        name = f"{prefix}{key}"
        setting = find_display_setting(name) or find_setting(name)
        inner = parse_text(setting, raw) if setting and isinstance(raw, str) else raw
        if not isinstance(inner, Mapping):
            yield name, inner
        elif setting and setting.kind == "table":
            yield from flatten(cast("Mapping[str, object]", inner), f"{name}.")
        else:
            yield name, dict(cast("Mapping[str, object]", inner))


def suggestion(name: str, names: Iterable[str]) -> str:
    """What may have been meant by a name that is none of `names`; they are compared within its table."""
    import difflib  # imported when used: only a mistake needs it

    table, dot, key = name.rpartition(".")
    row = f"providers.{ANY_PROVIDER}" if table.startswith("providers.") else table
    near_by = [one[len(row) + len(dot) :] for one in names if one.rpartition(".")[0] == row]
    if near := difflib.get_close_matches(key, near_by, 1):
        return f"; did you mean '{table}{dot}{near[0]}'?"
    return f"; known are {', '.join(f'{table}{dot}{one}' for one in near_by)}" if near_by else ""
