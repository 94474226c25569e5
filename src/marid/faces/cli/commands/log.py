"""`marid log`: the entries of a conversation."""

import click

from marid.app.app import RequestScope
from marid.app.conversations import current
from marid.core.errors import BadInput
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.operations.conversation_views import LogOptions, follow_log


@click.command("log", cls=HelpCommand, params=[ConversationArgument()])
@click.option("-n", "--count", type=int, default=0, metavar="N", help="Show the last N entries; -N shows the first N.")
@click.option("--all", "whole", is_flag=True, help="Show the whole history, not only the window.")
@click.option("-f", "--follow", "following", is_flag=True, help="Show new entries as they come, until Ctrl-C.")
@click.option("-v", "--verbose", is_flag=True, help="Show tool calls and results in full.")
@click.option("--raw", is_flag=True, help="Do not render markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print entries as JSON, one per line.")
@click.pass_context
def command(ctx: click.Context, conversation: str, count: int, *, following: bool, **manner: bool) -> int:
    """Show the entries of a conversation, oldest first (marid -g, -G).

    Messages are shown in full, a tool call in one line and its result as a size. Without --all, only the window is
    shown: the part that is sent to the model.
    """
    scope: RequestScope = ctx.obj()
    if not following:
        return conversation_actions.run_log(scope, conversation, count, **manner)
    if count or manner["whole"]:
        raise BadInput("--follow shows new entries only: remove -n and --all")
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    if conversation_actions.exists_or_notify(scope, name, unused="" if conversation else current(scope).implied):
        follow_log(scope, name, LogOptions(**manner))
    return 0
