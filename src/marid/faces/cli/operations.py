"""What the command line does to conversations. Flags and commands call the same functions; each tells what it did."""

import os
import sys
from collections.abc import Mapping

from marid.app import conversations
from marid.app.app import App
from marid.app.presence import is_there
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.faces.cli.exits import say, show

YES = ("y", "yes")


def sweep(app: App, *, verbose: bool = False) -> str:
    """Destroy the conversations whose time has come, before anything else is done with them: the name of the one that
    was the current one, if it is among them.
    """
    if not os.path.isdir(app.settings.home):
        return ""
    before = conversations.current(app).implied
    try:
        gone, problem = conversations.sweep(app)
    except Unavailable as error:
        # A home that cannot be written can still be read.
        if verbose:
            say(f"conversations that have come to their end stay: {error}")
        return ""
    if problem:
        say(problem)
    if gone and verbose:
        say(f"destroyed, as their time had come: {', '.join(gone)}")
    return before if before in gone else ""


def named(app: App, word: str) -> str:
    """The name of a conversation that is meant by a name, an id, `-` or nothing, for the current one.

    Raises: BadInput for what cannot be one, and for `-` where there was none before.
    """
    if word:
        conversations.check_word(word)
    return conversations.meant(app, word)


def found(app: App, word: str, *, verbose: bool = False, changes: bool = False) -> str:
    """The same, once the conversations whose time has come are gone: then another one may be the current one. Whoever
    `changes` that one has not meant it.

    Raises: also NotFound.
    """
    if word:
        conversations.check_word(word)
    gone = sweep(app, verbose=verbose)
    if gone and not word:
        check_meant(gone, changes=changes)
    return named(app, word)


def check_meant(gone: str, *, changes: bool) -> None:
    """Tell that the one that was the current one has come to its end. Raises: NotFound for whoever `changes` it."""
    if changes:
        raise NotFound(f"'{gone}' has come to its end; name the conversation that you mean")
    say(f"'{gone}' has come to its end")


def switch(app: App, word: str) -> str:
    """Mean another conversation from now on: its name."""
    conversations.check_word(word, fresh=True)
    name = conversations.meant(app, word, stay=True)
    tell_current(name)
    return name


def tell_current(name: str) -> None:
    """Which conversation is meant from now on."""
    say(f"'{name}' is the current conversation")


def rename(app: App, old: str, new: str) -> str:
    """Give a conversation another name: that one. Raises: NotFound, whatever the new name is."""
    there = is_there(app, old, unused=conversations.current(app).implied)
    name = conversations.rename(app, old, new).name if there else conversations.leave(app, old, new)
    say(f"'{old}' is called '{name}' now")
    return name


def clear(app: App, name: str) -> None:
    """Archive the history of a conversation."""
    if conversations.clear(app, name):
        say(f"the history of '{name}' is archived: its window is empty")
    else:
        say(f"there is no history in '{name}' to archive")


def put_away(app: App, name: str, *, away: bool) -> None:
    """Archive the conversation itself, or bring it back."""
    conversations.archive(app, name, away=away)
    say(f"'{name}' is archived: nothing can be said in it" if away else f"'{name}' can be used again")


def destroy(app: App, name: str, *, yes: bool = False) -> None:
    """Destroy a conversation once the person says so. Raises: NotFound; Refused when nobody says so."""
    if not is_there(app, name, unused=conversations.current(app).implied):
        now = conversations.leave(app, name)
        say(f"nothing was ever said in '{name}'; '{now}' is the current conversation")
        return
    if not yes:
        _confirm(name)
    conversations.destroy(app, name)
    say(f"'{name}' is destroyed; '{conversations.current(app).implied}' is the current conversation")


def _confirm(name: str) -> None:
    if not sys.stdin.isatty():
        raise Refused(f"'{name}' is not destroyed: there is no terminal to ask on, and --yes was not given")
    show(f"Destroy the conversation '{name}' and all that was said in it? [y/N] ")
    if sys.stdin.readline().strip().lower() not in YES:
        raise Refused(f"'{name}' is not destroyed")


def expire(app: App, name: str, at: str = "", after: str = "") -> None:
    """Let a conversation end by itself. Raises: BadInput for what is no number of seconds."""
    expiry = conversations.expire(app, name, at=_seconds(at), after_inactive=_seconds(after))
    told = [f"at {expiry.at}"] if expiry.at else []
    told += [f"after {expiry.after_inactive} s without use"] if expiry.after_inactive else []
    say(f"'{name}' is destroyed {' or '.join(told)}" if told else f"'{name}' does not end by itself")


def _seconds(text: str) -> int | None:
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise BadInput(f"'{text}' is no number of seconds: it is a whole number, and 0 means never")
    return number


def set_model(app: App, name: str, model: str) -> None:
    """Use a model in a conversation; it is asked for first."""
    import anyio

    from marid.app.adjusting import set_model as set_it

    say(f"'{name}' uses {anyio.run(set_it, app, name, model)}")


def set_username(app: App, name: str, username: str) -> None:
    """What the person is called in a conversation."""
    from marid.app.adjusting import set_username as set_it
    from marid.faces.cli.prompt_input import sound

    username = sound(username)
    set_it(app, name, username)
    say(f"you are called '{username}' in '{name}'")


def set_system_prompt(app: App, name: str, text_or_path: str) -> None:
    """The conversation's own system prompt: of a file if there is one of that name, else the text itself."""
    from marid.app.adjusting import set_system_prompt as set_it
    from marid.faces.cli.prompt_input import sound

    is_path = os.path.lexists(os.path.join(app.cwd, text_or_path))
    has_own = set_it(app, name, text_or_path if is_path else sound(text_or_path))
    say(f"'{name}' has its own system prompt" if has_own else f"'{name}' has the usual system prompt")


def set_values(app: App, name: str, values: Mapping[str, object]) -> None:
    """Settings of one conversation, in its local.toml."""
    from marid.app.adjusting import set_local
    from marid.core.effective import shown_value
    from marid.core.fields import display_of, setting_of

    set_local(app, name, values)
    for key, value in values.items():
        shown = "the usual one" if value is None else shown_value(display_of(key) or setting_of(key), value)
        say(f"{key} is {shown} in '{name}'")


def check_there(app: App, name: str) -> None:
    """See that a conversation is there, or is the current one, which may be unused yet. Raises: NotFound."""
    is_there(app, name, unused=conversations.current(app).implied)


def is_there_or_told(app: App, name: str, unused: str) -> bool:
    """Whether a conversation is there; the one that may be `unused` yet is told, another one is an error.

    Raises: NotFound.
    """
    known = is_there(app, name, unused=unused)
    if not known:
        say(f"nothing was said in '{name}' yet")
    return known


def listed(app: App, *, as_json: bool = False) -> int:
    """`marid conversations`, from the beginning."""
    from marid.faces.cli.operations_show import list_conversations

    sweep(app)
    list_conversations(app, conversations.current(app).implied, as_json=as_json)
    return 0


def logged(app: App, word: str, count: int, **manner: bool) -> int:
    """`marid log`, from the beginning; in a `Manner`. Raises: NotFound."""
    from marid.faces.cli.operations_show import Manner, show_log

    name = found(app, word, verbose=manner.get("verbose", False))
    if is_there_or_told(app, name, unused=conversations.current(app).implied):
        show_log(app, name, count, Manner(**manner))
    return 0
