"""Looking into a conversation: its prompt, its notes, and any setting that counts in it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from marid.app.app import App
from marid.app.conversations import transcript
from marid.core.errors import BadInput, NotFound

UNSET = "(not set)"
LIST = "list"
_ALIASES = MappingProxyType({"prompt": "system_prompt"})


def things() -> tuple[str, ...]:
    """All that can be asked for, settings as their keys with dots."""
    return (*_NOTES, "home", LIST, *setting_keys())


def setting_keys() -> tuple[str, ...]:
    """Every setting and display key, those of tables with dots; not those of providers, which are anybody's choice."""
    # Imported when used: most of what is asked for is no setting.
    from marid.core.fields import ANY, BY_NAME, DISPLAY_BY_NAME

    every = (*BY_NAME.values(), *DISPLAY_BY_NAME.values())
    return tuple(one.name for one in every if one.kind != "table" and ANY not in one.name)


def inspect(app: App, key: str, thing: str) -> str:
    """What a conversation has of it, in words; one that was never used has what everybody has.

    Raises: BadInput for what is no thing, with the nearest ones; Unavailable.
    """
    thing = _ALIASES.get(thing, thing)
    if thing in _NOTES:
        return _NOTES[thing](app, key).strip("\n") or UNSET
    if thing == "home":
        return app.settings.home
    if thing == LIST:
        return "\n".join(things())
    check_thing(thing)
    return _setting(app, key, thing)


def check_thing(thing: str) -> None:
    """Raises: BadInput for what is no thing, with the nearest ones."""
    if thing in _ALIASES or thing in things() or _known_key(thing):
        return
    import difflib

    near = difflib.get_close_matches(thing, things(), 3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`list` names all that there is"
    raise BadInput(f"there is nothing called '{thing}' to inspect; {hint}")


def _known_key(thing: str) -> str:
    """The name of a setting that is called so; of a table, a provider or an alias too."""
    from marid.core.fields import display_of, setting_of

    found = setting_of(thing) or display_of(thing)
    return found.name if found else ""


def _setting(app: App, key: str, thing: str) -> str:
    from marid.core.effective import effective

    name = _known_key(thing)
    rows = effective(app.resolve(key, {}))
    found = next((one for one in rows if one.key == name), None)
    if found is not None:
        return _words(found.value)
    # A table: what is set in it.
    inner = [f"{one.key} = {_words(one.value)}" for one in rows if one.key.startswith(f"{name}.")]
    return "\n".join(inner) or UNSET


def _words(value: object) -> str:
    """A plain value: whole numbers without a point, lists with commas, tables as TOML."""
    if value in (None, "", [], {}):
        return UNSET
    if isinstance(value, str):
        return value
    from marid.core.effective import toml_text

    text = toml_text(value)
    return text[1:-1].replace('"', "") if isinstance(value, list) else text


def _note(name: str) -> Callable[[App, str], str]:
    def read(app: App, key: str) -> str:
        try:
            return transcript(app, key).note(name)
        except NotFound:
            return ""

    return read


def _base_prompt(app: App, key: str) -> str:
    from marid.engine.prompt import base_prompt
    from marid.workspace.instructions import home_prompt

    return base_prompt(home_prompt(app.settings.home, "chibi"), _note("system_prompt")(app, key))


def _whole_prompt(app: App, key: str) -> str:
    """What a model would be told now."""
    from marid.engine.prompt import PromptParts, parts_of, system_prompt
    from marid.workspace.instructions import home_prompt, instructions

    settings = app.resolve(key, {}).settings
    told = instructions(app.settings.home, app.user_home, app.project, app.cwd)
    fuel = (settings.fuel, settings.fuel)
    try:
        parts = parts_of(transcript(app, key), settings, told, home_prompt(app.settings.home, "chibi"), fuel)
    except NotFound:
        parts = PromptParts(
            conversation=key, base=_base_prompt(app, key), instructions=told, username=settings.username, fuel=fuel
        )
    return system_prompt(parts)


_NOTES: Mapping[str, Callable[[App, str], str]] = MappingProxyType(
    {
        "system_prompt": _base_prompt,
        "whole_prompt": _whole_prompt,
        "reflection": _note("reflection"),
        "todos": _note("todos"),
        "goals": _note("goals"),
        "summary": _note("summary"),
    }
)
