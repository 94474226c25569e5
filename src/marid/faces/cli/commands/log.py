"""`marid log`: what was said in a conversation."""

import click

from marid.app.app import App
from marid.app.conversations import current
from marid.core.errors import BadInput
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.commands.conversations import json_option
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.operations.conversation_views import LogOptions, follow_log

_HELP = """Show what was said in a conversation, oldest first (marid -g, -G).

Messages are shown in full, calls of tools in one line and their results as a size; -v shows them whole. Without --all
it is the window: what a model is sent. With --json every entry is one object a line.
"""


def _log(ctx: click.Context, conversation: str, count: int, *, following: bool, **manner: bool) -> int:
    app: App = ctx.obj()
    if not following:
        return conversation_actions.run_log(app, conversation, count, **manner)
    if count or manner["whole"]:
        raise BadInput("--follow shows what is said from now on: it goes with neither -n nor --all")
    name = conversation_actions.resolve_after_sweep(app, conversation)
    if conversation_actions.exists_or_notify(app, name, unused="" if conversation else current(app).implied):
        follow_log(app, name, LogOptions(**manner))
    return 0


command = click.Command(
    "log",
    callback=click.pass_context(_log),
    params=[
        ConversationArgument(),
        click.Option(
            ["-n", "--count"], type=int, default=0, help="The last N entries; -N the first ones.", metavar="N"
        ),
        click.Option(["--all", "whole"], is_flag=True, help="All that was ever said, not only the window."),
        click.Option(["-f", "--follow", "following"], is_flag=True, help="What is said from now on, until Ctrl-C."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Calls and results whole."),
        click.Option(["--raw"], is_flag=True, help="Messages as they are, not as rendered markdown."),
        json_option(),
    ],
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
