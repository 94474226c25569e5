"""`marid say`: say something in a conversation, whatever its first word is."""

from typing import Any

import click

from marid.app.conversations import check_word, meant
from marid.faces.cli.conversations_command import opened
from marid.faces.cli.names import NameOption
from marid.faces.cli.talk import talk
from marid.faces.cli.talk_options import HELP_NAMES, OPTIONS, talk_of

_HELP = """Say something, and see the answer.

\b
    marid say "what does this project do?"
    git diff | marid say -C review "what could go wrong here?"
    marid say                     type it; a line that is just `.` ends it

`marid WORDS` is the same, unless the first word is a command. What is piped in comes after the words. The answer goes
to stdout, everything else to stderr. Ctrl-C ends the round and keeps what was said (exit code 130; 143 after SIGTERM,
129 after SIGHUP); a second one ends at once.
"""


def _say(ctx: click.Context, conversation: str, words: tuple[str, ...], **given: Any) -> int:
    if conversation:
        check_word(conversation, fresh=True)
    app = opened(ctx)
    return talk(app, talk_of(meant(app, conversation), " ".join(words), given))


command = click.Command(
    "say",
    params=[
        NameOption("In this conversation; -, new and new:PREFIX too.", "new", "new:"),
        *OPTIONS,
        click.Argument(["words"], nargs=-1, metavar="[WORDS]..."),
    ],
    callback=click.pass_context(_say),
    help=_HELP,
    context_settings=HELP_NAMES,
)
