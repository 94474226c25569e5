"""`marid resume`: continue an interrupted round."""

from dataclasses import replace
from typing import Any

import click

from marid.app.app import RequestScope
from marid.faces.cli.argv.command_line import settings_from
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.chat.chat_options import CHAT_OPTIONS
from marid.faces.cli.chat.chat_round import chat_request, run_chat
from marid.faces.cli.operations import conversation_actions


@click.command("resume", cls=HelpCommand, params=[*CHAT_OPTIONS, ConversationArgument("name")])
@click.pass_context
def command(ctx: click.Context, name: str, **given: Any) -> int:
    """Continue the last round of a conversation after Ctrl-C, a crash or a lost connection, without a new message.

    Everything said and done so far is kept. An interrupted tool call is not repeated; the model is informed instead.
    """
    scope: RequestScope = ctx.obj()
    name = conversation_actions.resolve_after_sweep(scope, name)
    return run_chat(scope.within(name, settings_from(given)), replace(chat_request(name, "", given), resume=True))
