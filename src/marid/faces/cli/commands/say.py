"""`marid say`: say something in a conversation, whatever its first word is."""

from typing import Any

import click

from marid.app.conversations import check_selector, resolve_name
from marid.faces.cli.argv.conversation_params import ConversationOption
from marid.faces.cli.chat.chat_options import CHAT_OPTIONS, HELP_NAMES, chat_request
from marid.faces.cli.chat.chat_round import run_chat
from marid.faces.cli.commands.conversations import app_after_sweep

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
        check_selector(conversation, allow_new=True)
    app = app_after_sweep(ctx)
    return run_chat(app, chat_request(resolve_name(app, conversation), " ".join(words), given))


command = click.Command(
    "say",
    params=[
        ConversationOption("In this conversation; -, new and new:PREFIX too.", "new", "new:"),
        *CHAT_OPTIONS,
        click.Argument(["words"], nargs=-1, metavar="[WORDS]..."),
    ],
    callback=click.pass_context(_say),
    help=_HELP,
    context_settings=HELP_NAMES,
)
