"""Conversations answer what others have sent them, one after the other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from marid.app.app import App
from marid.core.errors import MaridError
from marid.core.events import Note
from marid.core.rounds import End
from marid.faces.cli.exits import INTERRUPTED, exit_code, say, words_of
from marid.faces.cli.talk import Say, Talk, perform
from marid.faces.signals import Signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from marid.app.saying import Saying
    from marid.core.rounds import RoundHappening
    from marid.toolkit.asking import Asker


_EMPTY = "nothing waits for '{}'"


def check_inboxes(
    app: App, names: Sequence[str] | None, talk: Talk, *, by: "Say | None" = None, signals: Signals | None = None
) -> int:
    """A round in each of these conversations that has messages, or with None in every one that has; else nothing.

    `talk` says how; its conversation and prompt do not count. Of several it is told who speaks. One that fails is told,
    and the others go on: the exit code is the first failure's.

    Raises: OSError when the answer cannot be written any more.
    """
    from marid.app.inboxes import waiting  # imported when used: the help needs none of it

    full = dict(waiting(app, archived=names is not None))
    meant = list(full) if names is None else list(dict.fromkeys(names))
    several = names is None or len(meant) > 1
    code = 0
    with signals or Signals() as signals:
        for name in meant:
            if not full.get(name):
                say(_EMPTY.format(name))
                continue
            if several:
                say(f"'{name}' answers what it was sent")
            try:
                _checked(app, replace(talk, conversation=name, prompt=""), signals, by or _check)
            except KeyboardInterrupt:
                return signals.exit_code or INTERRUPTED
            except MaridError as error:
                _tell(app, name, error)
                code = code or exit_code(error)
            if signals.exit_code:
                return signals.exit_code
    if not meant:
        say("nothing waits in any inbox")
    return code


def _tell(app: App, name: str, error: MaridError) -> None:
    """What went wrong, and what goes on from there: a round that had begun has taken the messages."""
    waits = app.memory(app.settings).inbox.peek(name)
    say(f"{name}: {words_of(error)}; {'its messages wait' if waits else f'`marid -C {name} resume` goes on there'}")


def _checked(app: App, talk: Talk, signals: Signals, by: "Say") -> None:
    perform(app, talk, app.resolve(talk.conversation, talk.flags), signals, by)


async def _check(
    app: App, saying: "Saying", emit: "Callable[[RoundHappening], None]", asker: "Asker | None"
) -> End | None:
    from marid.app.inboxes import check

    end = await check(app, saying, emit, asker)
    if end is None:
        emit(Note(_EMPTY.format(saying.conversation)))
    return end
