"""Inspect a conversation: its prompt, its notes, and any setting in force."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from marid.app.app import RequestScope
from marid.app.conversations import transcript
from marid.core.errors import BadInput, NotFound
from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, find_setting
from marid.core.settings.view import effective_settings, toml_text
from marid.core.suggestions import close_matches, did_you_mean
from marid.engine.system_prompt import PROMPT_NOTES, base_prompt, load_prompts, prompt_parts, system_prompt
from marid.workspace.instructions import load_home_prompt

UNSET = "(not set)"
LIST = "list"
_ALIASES = MappingProxyType({"prompt": "system_prompt"})


def inspectable_names() -> tuple[str, ...]:
    """All names, with the settings as keys with dots."""
    return (*_READERS, "home", LIST, *setting_keys())


def setting_keys() -> tuple[str, ...]:
    """Every setting, those of tables with dots; not those of providers, whose ids the user chooses."""
    return tuple(one.name for one in SETTINGS if one.kind != "table" and ANY_PROVIDER not in one.name)


def inspect(scope: RequestScope, key: str, thing: str) -> str:
    """The value of one thing in a conversation; one that was never used has the defaults.

    Raises: BadInput for an unknown name, with the nearest ones; Unavailable.
    """
    thing = _ALIASES.get(thing, thing)
    if thing in _READERS:
        return _READERS[thing](scope, key).strip("\n") or UNSET
    if thing == "home":
        return scope.home
    if thing == LIST:
        return "\n".join(inspectable_names())
    check_inspectable(thing)
    return _setting_text(scope, key, thing)


def check_inspectable(thing: str) -> None:
    """Raises: BadInput for an unknown name, with the nearest ones."""
    if thing in _ALIASES or thing in inspectable_names() or _setting_name(thing):
        return
    near = close_matches(thing, inspectable_names(), 3)
    raise BadInput(f"cannot inspect '{thing}'{did_you_mean(near) or '; `list` prints all names'}")


def _setting_name(thing: str) -> str:
    """The name of the setting, table, provider or alias; "" if there is none."""
    found = find_setting(thing)
    return found.name if found else ""


def _setting_text(scope: RequestScope, key: str, thing: str) -> str:
    name = _setting_name(thing)
    rows = effective_settings(scope.within(key).resolve())
    found = next((one for one in rows if one.key == name), None)
    if found is not None:
        return _format_value(found.value)
    # A table: what is set in it.
    inner = [f"{one.key} = {_format_value(one.value)}" for one in rows if one.key.startswith(f"{name}.")]
    return "\n".join(inner) or UNSET


def _format_value(value: object) -> str:
    """A plain value: whole numbers without a point, lists with commas, tables as TOML."""
    if value in (None, "", [], {}):
        return UNSET
    if isinstance(value, str):
        return value
    text = toml_text(value)
    return text[1:-1].replace('"', "") if isinstance(value, list) else text


def _note_reader(name: str) -> Callable[[RequestScope, str], str]:
    def read_note(scope: RequestScope, key: str) -> str:
        try:
            return transcript(scope, key).read_note(name)
        except NotFound:
            return ""

    return read_note


def _base_prompt(scope: RequestScope, key: str) -> str:
    return base_prompt(load_home_prompt(scope.home, "chibi"), _note_reader("system_prompt")(scope, key))


def _full_prompt(scope: RequestScope, key: str) -> str:
    """The system prompt that a model would get now."""
    settings = scope.within(key).settings
    texts = load_prompts(scope.home, scope.app.user_home, scope.project, scope.cwd)
    fuel = (settings.conversation.fuel, settings.conversation.fuel)
    try:
        found = transcript(scope, key)
        name, notes = found.meta().name, {note: found.read_note(note) for note in PROMPT_NOTES}
    except NotFound:
        name, notes = key, {}
    return system_prompt(prompt_parts(name, notes, settings, texts, fuel))


_READERS: Mapping[str, Callable[[RequestScope, str], str]] = MappingProxyType(
    {
        "system_prompt": _base_prompt,
        "whole_prompt": _full_prompt,
        "reflection": _note_reader("reflection"),
        "todos": _note_reader("todos"),
        "goals": _note_reader("goals"),
        "summary": _note_reader("summary"),
    }
)
