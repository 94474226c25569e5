"""`marid say`: send a prompt, whatever its first word is."""

from typing import Any

import click

from marid.app.conversations import check_selector, resolve_name
from marid.faces.cli.argv.command_line import settings_from
from marid.faces.cli.argv.conversation_params import ConversationOption
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.chat.chat_options import CHAT_OPTIONS
from marid.faces.cli.chat.chat_round import chat_request, run_chat
from marid.faces.cli.commands.conversations import scope_after_sweep

_EXAMPLES = (
    ('marid say "what does this project do?"', "ask a question"),
    ('git diff | marid say -C review "any bugs?"', "ask about piped text, in a conversation"),
    ("marid say", "type the prompt; a line with only `.` ends it"),
)
_PARAMS: list[click.Parameter] = [
    ConversationOption("Use this conversation (- previous, new, new:PREFIX).", "new", "new:"),
    *CHAT_OPTIONS,
    click.Argument(["words"], nargs=-1, metavar="[WORDS]..."),
]


@click.command("say", cls=HelpCommand, params=_PARAMS, examples=_EXAMPLES)
@click.pass_context
def command(ctx: click.Context, conversation: str, words: tuple[str, ...], **given: Any) -> int:
    """Send a prompt and print the answer.

    `marid WORDS` does the same unless the first word is a command. Piped text is added after the words. The answer goes
    to stdout, everything else to stderr. Ctrl-C stops the round and keeps what was said (exit code 130; 143 after
    SIGTERM, 129 after SIGHUP); a second Ctrl-C exits at once.
    """
    if conversation:
        check_selector(conversation, allow_new=True)
    scope = scope_after_sweep(ctx)
    name = resolve_name(scope, conversation)
    return run_chat(scope.within(name, settings_from(given)), chat_request(name, " ".join(words), given))
