"""`marid resume`: go on where a round broke off."""

from dataclasses import replace
from typing import Any

import click

from marid.app.app import App
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.chat.chat_options import CHAT_OPTIONS, HELP_NAMES, chat_request
from marid.faces.cli.chat.chat_round import run_chat
from marid.faces.cli.operations import conversation_actions

_HELP = """Go on where the last round of a conversation broke off, without a new message.

After Ctrl-C, a crash or a service that went away: what was said and done is kept, and the model goes on from there. A
call that was interrupted is not made again; the model is told. Without NAME it is the current conversation.
"""


def _resume(ctx: click.Context, name: str, **given: Any) -> int:
    app: App = ctx.obj()
    return run_chat(
        app, replace(chat_request(conversation_actions.resolve_after_sweep(app, name), "", given), resume=True)
    )


command = click.Command(
    "resume",
    params=[
        *CHAT_OPTIONS,
        ConversationArgument("name"),
    ],
    callback=click.pass_context(_resume),
    help=_HELP,
    context_settings=HELP_NAMES,
)
