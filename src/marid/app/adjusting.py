"""What a person sets for one conversation, written down in its own files."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from marid.app.app import App
from marid.app.config_file import change_file
from marid.app.conversations import memory_of
from marid.app.reading import is_file, text_of
from marid.core.checks import shown_key, typed
from marid.core.errors import BadInput, NotFound
from marid.core.fields import BY_NAME, DISPLAY_BY_NAME, RIVALS, display_of, flattened, setting_of, suggestion
from marid.core.settings import PROVIDERS, files_of
from marid.text.names import check_name

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_MOST_PROMPT = 1 << 20


def set_local(app: App, conversation: str, values: Mapping[str, object]) -> None:
    """Write settings into the conversation's own files, whose comments and other keys stay; None removes a key.

    Those of the display go into its cli.toml, all others into its local.toml. The conversation, a name or an id, is
    made if it is not there. Values may be texts, as a command line has them; keys of tables have dots, or are tables.

    Raises: BadInput that names every problem; Unavailable.
    """
    checked = _checked(values)
    files = files_of(app.settings.home, app.project, _there(app, conversation))
    shown = {name: value for name, value in checked.items() if display_of(name)}
    rest = {name: value for name, value in checked.items() if name not in shown}
    for file, part in ((files.local, rest), (files.own_cli, shown)):
        if part:
            change_file(file, partial(_write, values=part))


def _checked(values: Mapping[str, object]) -> dict[str, Any]:
    problems: list[str] = []
    found: dict[str, Any] = {}
    for key, raw in flattened(values):
        setting = display_of(key) or setting_of(key)
        if setting is None:
            problems.append(f"unknown key '{shown_key(key)}'{suggestion(key, (*BY_NAME, *DISPLAY_BY_NAME))}")
        elif not setting.everywhere:
            problems.append(f"'{key}' is the same for all conversations: set it in config.toml")
        else:
            try:
                found[setting.name] = raw if raw is None else typed(setting, raw)
            except BadInput as error:
                problems.append(str(error))
    if problems:
        raise BadInput("; ".join(problems))
    rivals = {RIVALS[name]: None for name, value in found.items() if name in RIVALS and value is not None}
    return {**rivals, **found}


def _there(app: App, key: str) -> str:
    """The name of a conversation, which is made if it is not there."""
    store = app.memory(app.settings).conversations
    try:
        return store.look(key).name
    except NotFound:
        return store.create(check_name(key)).name


def _write(document: "TOMLDocument", values: Mapping[str, Any]) -> None:
    import tomlkit  # imported when used

    for name, value in values.items():
        *tables, key = name.split(".")
        place: Any = document
        for table in tables:
            if table not in place:
                if value is None:
                    break
                place[table] = tomlkit.table()
            place = place[table]
        else:
            if value is None:
                place.pop(key, None)
            else:
                place[key] = _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in cast("Mapping[str, Any]", value).items()}
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


async def set_model(app: App, conversation: str, model: str) -> str:
    """Ask for that model from now on, once its provider has said that there is one. Returns what was set.

    `provider:model` names both, where there is such a provider; it is written as one, so that taking it back takes back
    both. Raises: as Model.info; BadInput; Unavailable.
    """
    if not model.strip():
        raise BadInput("say which model")
    name = named(app, conversation)
    values: dict[str, object] = {"model": model}
    provider, colon, rest = model.partition(":")
    if colon and rest and provider in (*PROVIDERS, *app.settings.providers):
        values["provider"] = None  # one that was set before would be the stronger
    meant = app.resolve(name, values).settings
    await app.model(meant, {}).info(meant.model)
    if meant.provider != app.resolve(name, {}).settings.provider:
        # What belonged to another provider, least of all its key, is not for this one.
        values |= {"base_url": None, "api_key": None}
    set_local(app, conversation, values)
    return model


def named(app: App, key: str) -> str:
    """The name of the conversation that a name or an id means; one that is not there is called as it was asked for.

    Raises: BadInput for what can be no name.
    """
    return app.memory(app.settings).conversations.name_of(key)


def set_username(app: App, conversation: str, name: str) -> None:
    """Call the user so from now on. Raises: BadInput; Unavailable."""
    set_local(app, conversation, {"username": name})


def set_system_prompt(app: App, conversation: str, text_or_path: str) -> bool:
    """Give the conversation a system prompt of its own: a file's content where there is such a file, else the text.

    Returns whether it has one now: a blank one is none.

    Raises: BadInput; Held; Refused when the conversation is archived; Unavailable.
    """
    text = text_of(app, text_or_path, _MOST_PROMPT) if is_file(app, text_or_path) else text_or_path
    with memory_of(app, conversation).conversations.open(conversation, create=True) as held:
        held.write_note("system_prompt", text)
    return bool(text.strip())
