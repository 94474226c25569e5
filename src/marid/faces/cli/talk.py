"""A person says something on the command line, and sees what comes of it."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from marid.app.app import App
from marid.app.saying import Saying
from marid.core.conversation import Held
from marid.core.errors import NotFound
from marid.core.rounds import End, RoundHappening
from marid.core.settings import Display, Resolved
from marid.faces.cli.exits import INTERRUPTED, end_line, say
from marid.faces.cli.prompt_input import prompt_of
from marid.faces.cli.talk_stage import Stage
from marid.faces.signals import Signals

if TYPE_CHECKING:
    from marid.toolkit.asking import Asker

Say: TypeAlias = "Callable[[App, Saying, Callable[[RoundHappening], None], Asker | None], Awaitable[End | None]]"


@dataclass(frozen=True, kw_only=True)
class Talk(Saying):
    """What a command line says. The conversation is chosen already; `prompt` are the words that are on the line.

    `display` are only those keys of the display that flags gave. `debug` may also hold force-markdown.
    """

    prompt: str = ""
    display: Mapping[str, object] = field(default_factory=dict[str, object])


def talk(app: App, talk: Talk, *, by: "Say | None" = None, signals: Signals | None = None) -> int:
    """Read what is piped in or typed, and show one round of it, `by` who holds it: the exit code.

    After Ctrl-C, what there was is stored and the exit code is 130; 143 after SIGTERM, 129 after SIGHUP.

    Raises: MaridError; OSError when the answer cannot be written any more.
    """
    with signals or Signals() as signals:
        try:
            resolved = app.resolve(talk.conversation, talk.flags)
            if not talk.resume:
                talk = replace(talk, prompt=prompt_of(talk.prompt, sys.stdin, resolved.settings.max_size_mb))
            _tell_wait(app, talk)
            return perform(app, talk, resolved, signals, _say if by is None else by)
        except Held as error:
            hint = "" if talk.wait else "; --wait-lock SECONDS waits for it"
            raise Held(f"{error}{hint}", error.holder) from error
        except KeyboardInterrupt:
            end_line()
            return signals.exit_code or INTERRUPTED


def _tell_wait(app: App, talk: Talk) -> None:
    if not talk.wait:
        return
    # One that is not there yet is made by the round, and nobody holds it.
    with suppress(NotFound):
        holder = app.memory(app.settings).conversations.holder(talk.conversation)
        if holder is not None:
            say(f"waiting for process {holder.pid} on {holder.host}, which works in '{talk.conversation}'")


def perform(app: App, talk: Talk, resolved: Resolved, signals: Signals, by: "Say") -> int:
    """Show a round whose prompt is known. Raises: as `talk`."""

    async def act(emit: Callable[[RoundHappening], None], asker: "Asker | None") -> End | None:
        return await by(app, talk, emit, asker)

    return Stage(app, signals).perform(act, display_of(talk, resolved), talk.debug)


def display_of(talk: Talk, resolved: Resolved) -> Display:
    """How answers are shown: by the files, and above them by flags."""
    return resolved.display._replace(**cast("dict[str, bool]", dict(talk.display)))


async def _say(app: App, saying: Saying, emit: Callable[[RoundHappening], None], asker: "Asker | None") -> End | None:
    from marid.app import say as saying_something  # imported when used: whoever is interrupted early needs none of it

    return await saying_something.say(app, saying, emit, asker)
