"""Settings of one conversation, stored in its own files."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from marid.app.app import RequestScope
from marid.app.config_file import edit_toml_file
from marid.app.conversations import storage_for
from marid.app.input_files import is_file, read_text_file
from marid.core.errors import BadInput, NotFound
from marid.core.settings.schema import EXCLUSIVE_SETTINGS, PROVIDERS, SETTINGS_BY_NAME, find_setting, unknown_key_hint
from marid.core.settings.validation import flatten, parse_and_check, printable_key
from marid.core.settings.values import settings_files
from marid.text.conversation_names import check_conversation_name

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_MAX_PROMPT_BYTES = 1 << 20


def set_conversation_settings(scope: RequestScope, conversation: str, values: Mapping[str, object]) -> None:
    """Write settings to the conversation's own files; comments and other keys stay, None removes a key.

    Display settings go to its cli.toml, all others to its local.toml. The conversation is created if it does not
    exist. Values may be strings from a command line; keys of tables have dots, or are tables.

    Raises: BadInput that names every problem; Unavailable.
    """
    checked = _check_values(values)
    folder = scope.stores.files.settings_folder(_ensure_conversation(scope, conversation))
    files = settings_files(scope.home, scope.project, folder)
    shown = {
        name: value for name, value in checked.items() if name in SETTINGS_BY_NAME and SETTINGS_BY_NAME[name].display
    }
    rest = {name: value for name, value in checked.items() if name not in shown}
    for file, part in ((files.local, rest), (files.own_cli, shown)):
        if part:
            edit_toml_file(file, partial(_write, values=part))


def _check_values(values: Mapping[str, object]) -> dict[str, Any]:
    problems: list[str] = []
    found: dict[str, Any] = {}
    for key, raw in flatten(values):
        setting = find_setting(key)
        if setting is None:
            problems.append(f"unknown key '{printable_key(key)}'{unknown_key_hint(key)}")
        elif not setting.per_conversation:
            problems.append(f"'{key}' is the same for all conversations: set it in config.toml")
        else:
            try:
                found[setting.name] = raw if raw is None else parse_and_check(setting, raw)
            except BadInput as error:
                problems.append(str(error))
    if problems:
        raise BadInput("; ".join(problems))
    rivals = {
        EXCLUSIVE_SETTINGS[name]: None
        for name, value in found.items()
        if name in EXCLUSIVE_SETTINGS and value is not None
    }
    return {**rivals, **found}


def _ensure_conversation(scope: RequestScope, key: str) -> str:
    """The name of the conversation, which is created if it does not exist."""
    store = scope.stores.conversations
    try:
        return store.get_meta(key).name
    except NotFound:
        return store.create(check_conversation_name(key)).name


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
                place[key] = _toml_value(value)


def _toml_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _toml_value(inner) for key, inner in cast("Mapping[str, Any]", value).items()}
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


async def set_model(scope: RequestScope, conversation: str, model: str) -> str:
    """Set the model, after its provider confirmed that it exists. Returns what was set.

    `provider:model` is stored as one value, so that unsetting it unsets both. Raises: as Model.info; BadInput;
    Unavailable.
    """
    if not model.strip():
        raise BadInput("name a model")
    name = conversation_name(scope, conversation)
    values: dict[str, object] = {"model": model}
    provider, colon, rest = model.partition(":")
    if colon and rest and provider in (*PROVIDERS, *scope.settings.model.providers):
        values["provider"] = None  # an earlier one would override it
    wanted = scope.within(name, values).settings
    await scope.app.model(wanted, {}).info(wanted.model.name)
    if wanted.model.provider != scope.within(name).settings.model.provider:
        # The address and above all the key of the former provider are not for this one.
        values |= {"base_url": None, "api_key": None}
    set_conversation_settings(scope, conversation, values)
    return model


def conversation_name(scope: RequestScope, key: str) -> str:
    """The name of the conversation with this name or id; the key itself if there is none. Raises: BadInput."""
    return scope.stores.conversations.resolve_name(key)


def set_username(scope: RequestScope, conversation: str, name: str) -> None:
    """Set the user's name. Raises: BadInput; Unavailable."""
    set_conversation_settings(scope, conversation, {"username": name})


def set_system_prompt(scope: RequestScope, conversation: str, text_or_path: str) -> bool:
    """Set the conversation's system prompt: the content of a file of that name if there is one, else the text.

    A blank one removes it. Returns whether there is one now.

    Raises: BadInput; ConversationLocked; Refused if the conversation is archived; Unavailable.
    """
    text = read_text_file(scope, text_or_path, _MAX_PROMPT_BYTES) if is_file(scope, text_or_path) else text_or_path
    storage = storage_for(scope, conversation)
    with scope.stores.conversations.open(conversation, storage, create=True) as held:
        held.write_note("system_prompt", text)
    return bool(text.strip())
