"""`marid clear`: archive the history of a conversation."""

import click

from marid.app.app import App
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.operations import conversation_actions

_HELP = """Archive the history of a conversation: its window is empty then, and a model knows nothing of what was said
(marid -a, -A).

The transcript keeps it: `marid log --all` shows it, `marid search` finds it. `marid conversations archive` is something
else: it puts the conversation itself away.
"""


def _clear(ctx: click.Context, conversation: str) -> None:
    app: App = ctx.obj()
    name = conversation_actions.resolve_after_sweep(app, conversation, changes=True)
    conversation_actions.check_exists(app, name)
    conversation_actions.clear(app, name)


command = click.Command(
    "clear",
    callback=click.pass_context(_clear),
    params=[ConversationArgument()],
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
