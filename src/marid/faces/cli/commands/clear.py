"""`marid clear`: archive the history of a conversation."""

import click

from marid.app.app import RequestScope
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.operations import conversation_actions


@click.command("clear", cls=HelpCommand, params=[ConversationArgument()])
@click.pass_context
def command(ctx: click.Context, conversation: str) -> None:
    """Archive the history of a conversation: start with an empty window (marid -a, -A).

    The transcript keeps everything: `marid log --all` shows it, `marid search` finds it. To archive the conversation
    itself, use `marid conversations archive`.
    """
    scope: RequestScope = ctx.obj()
    name = conversation_actions.resolve_after_sweep(scope, conversation, changes=True)
    conversation_actions.check_exists(scope, name)
    conversation_actions.clear(scope, name)
