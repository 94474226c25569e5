"""What the command line does to conversations. Flags and commands call the same functions; each tells what it did."""

import os
import sys
from collections.abc import Mapping

from marid.app import conversations
from marid.app.app import RequestScope
from marid.core.errors import BadInput, NotFound, Refused
from marid.faces.cli.view.console import print_note, write_stderr

CONFIRMATIONS = ("y", "yes")


def sweep(scope: RequestScope, *, verbose: bool = False) -> str:
    """Destroy the conversations whose time has come, before anything else is done with them: the name of the one that
    was the current one, if it is among them.
    """
    before = conversations.current(scope).implied
    gone, problem, failure = conversations.sweep(scope)
    if failure and verbose:
        print_note(failure)
    if problem:
        print_note(problem)
    if gone and verbose:
        print_note(f"destroyed, as their time had come: {', '.join(gone)}")
    return before if before in gone else ""


def resolve_name(scope: RequestScope, word: str) -> str:
    """The name of a conversation that is meant by a name, an id, `-` or nothing, for the current one.

    Raises: BadInput for what cannot be one, and for `-` where there was none before.
    """
    if word:
        conversations.check_selector(word)
    return conversations.resolve_name(scope, word)


def resolve_after_sweep(scope: RequestScope, word: str, *, verbose: bool = False, changes: bool = False) -> str:
    """The same, once the conversations whose time has come are gone: then another one may be the current one. Whoever
    `changes` that one has not meant it.

    Raises: also NotFound.
    """
    if word:
        conversations.check_selector(word)
    gone = sweep(scope, verbose=verbose)
    if gone and not word:
        report_expired_current(gone, changes=changes)
    return resolve_name(scope, word)


def report_expired_current(gone: str, *, changes: bool) -> None:
    """Tell that the one that was the current one has come to its end. Raises: NotFound for whoever `changes` it."""
    if changes:
        raise NotFound(f"'{gone}' has come to its end; name the conversation that you mean")
    print_note(f"'{gone}' has come to its end")


def switch(scope: RequestScope, word: str) -> str:
    """Mean another conversation from now on: its name."""
    conversations.check_selector(word, allow_new=True)
    name = conversations.resolve_name(scope, word, switch=True)
    print_current(name)
    return name


def print_current(name: str) -> None:
    """Which conversation is meant from now on."""
    print_note(f"'{name}' is the current conversation")


def rename(scope: RequestScope, old: str, new: str) -> str:
    """Give a conversation another name: that one. Raises: NotFound, whatever the new name is."""
    there = conversations.conversation_exists(scope, old, unused=conversations.current(scope).implied)
    name = conversations.rename(scope, old, new).name if there else conversations.abandon_name(scope, old, new)
    print_note(f"'{old}' is called '{name}' now")
    return name


def clear(scope: RequestScope, name: str) -> None:
    """Archive the history of a conversation."""
    if conversations.clear(scope, name):
        print_note(f"the history of '{name}' is archived: its window is empty")
    else:
        print_note(f"there is no history in '{name}' to archive")


def set_archived(scope: RequestScope, name: str, *, archived: bool) -> None:
    """Archive the conversation itself, or bring it back."""
    conversations.archive(scope, name, away=archived)
    print_note(f"'{name}' is archived: nothing can be said in it" if archived else f"'{name}' can be used again")


def destroy(scope: RequestScope, name: str, *, yes: bool = False) -> None:
    """Destroy a conversation once the person says so. Raises: NotFound; Refused when nobody says so."""
    if not conversations.conversation_exists(scope, name, unused=conversations.current(scope).implied):
        now = conversations.abandon_name(scope, name)
        print_note(f"nothing was ever said in '{name}'; '{now}' is the current conversation")
        return
    if not yes:
        _confirm(name)
    conversations.destroy(scope, name)
    print_note(f"'{name}' is destroyed; '{conversations.current(scope).implied}' is the current conversation")


def _confirm(name: str) -> None:
    if not sys.stdin.isatty():
        raise Refused(f"'{name}' is not destroyed: there is no terminal to ask on, and --yes was not given")
    write_stderr(f"Destroy the conversation '{name}' and all that was said in it? [y/N] ")
    if sys.stdin.readline().strip().lower() not in CONFIRMATIONS:
        raise Refused(f"'{name}' is not destroyed")


def expire(scope: RequestScope, name: str, at: str = "", after: str = "") -> None:
    """Let a conversation end by itself. Raises: BadInput for what is no number of seconds."""
    expiry = conversations.expire(scope, name, at=_parse_seconds(at), after_inactive=_parse_seconds(after))
    told = [f"at {expiry.at}"] if expiry.at else []
    told += [f"after {expiry.after_inactive} s without use"] if expiry.after_inactive else []
    print_note(f"'{name}' is destroyed {' or '.join(told)}" if told else f"'{name}' does not end by itself")


def _parse_seconds(text: str) -> int | None:
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise BadInput(f"'{text}' is no number of seconds: it is a whole number, and 0 means never")
    return number


def set_model(scope: RequestScope, name: str, model: str) -> None:
    """Use a model in a conversation; it is asked for first."""
    import anyio

    from marid.app.conversation_settings import set_model as set_it

    print_note(f"'{name}' uses {anyio.run(set_it, scope, name, model)}")


def set_username(scope: RequestScope, name: str, username: str) -> None:
    """What the person is called in a conversation."""
    from marid.app.conversation_settings import set_username as set_it
    from marid.faces.cli.chat.prompt_input import replace_invalid_bytes

    username = replace_invalid_bytes(username)
    set_it(scope, name, username)
    print_note(f"you are called '{username}' in '{name}'")


def set_system_prompt(scope: RequestScope, name: str, text_or_path: str) -> None:
    """The conversation's own system prompt: of a file if there is one of that name, else the text itself."""
    from marid.app.conversation_settings import set_system_prompt as set_it
    from marid.faces.cli.chat.prompt_input import replace_invalid_bytes

    is_path = os.path.lexists(os.path.join(scope.cwd, text_or_path))
    has_own = set_it(scope, name, text_or_path if is_path else replace_invalid_bytes(text_or_path))
    print_note(f"'{name}' has its own system prompt" if has_own else f"'{name}' has the usual system prompt")


def set_values(scope: RequestScope, name: str, values: Mapping[str, object]) -> None:
    """Settings of one conversation, in its local.toml."""
    from marid.app.conversation_settings import set_conversation_settings
    from marid.core.settings.schema import find_setting
    from marid.core.settings.view import printable_value

    set_conversation_settings(scope, name, values)
    for key, value in values.items():
        shown = "the usual one" if value is None else printable_value(find_setting(key), value)
        print_note(f"{key} is {shown} in '{name}'")


def check_exists(scope: RequestScope, name: str) -> None:
    """See that a conversation is there, or is the current one, which may be unused yet. Raises: NotFound."""
    conversations.conversation_exists(scope, name, unused=conversations.current(scope).implied)


def exists_or_notify(scope: RequestScope, name: str, unused: str) -> bool:
    """Whether a conversation is there; the one that may be `unused` yet is told, another one is an error.

    Raises: NotFound.
    """
    known = conversations.conversation_exists(scope, name, unused=unused)
    if not known:
        print_note(f"nothing was said in '{name}' yet")
    return known


def run_list(scope: RequestScope, *, as_json: bool = False) -> int:
    """`marid conversations`, from the beginning."""
    from marid.faces.cli.operations.conversation_views import list_conversations

    sweep(scope)
    list_conversations(scope, conversations.current(scope).implied, as_json=as_json)
    return 0


def run_log(scope: RequestScope, word: str, count: int, **manner: bool) -> int:
    """`marid log`, from the beginning; in a `LogOptions`. Raises: NotFound."""
    from marid.faces.cli.operations.conversation_views import LogOptions, show_log

    name = resolve_after_sweep(scope, word, verbose=manner.get("verbose", False))
    if exists_or_notify(scope, name, unused=conversations.current(scope).implied):
        show_log(scope, name, count, LogOptions(**manner))
    return 0
