"""`marid search`: what was said, in whichever conversation."""

import click

from marid.core.errors import BadInput
from marid.faces.cli.commands.conversations import app_after_sweep
from marid.faces.cli.operations.conversation_views import show_search_hits

_HELP = """Find what was said in any conversation, however long ago: entries that hold every one of the WORDS.

Each hit is shown with its conversation, its time and the text around it. Words are found inside of others, in any case;
--words finds whole ones, faster.
"""


def _search(ctx: click.Context, words: tuple[str, ...], *, conversations: bool, whole: bool, as_json: bool) -> None:
    if not conversations:
        raise BadInput("only conversations can be searched yet: marid search --conversations WORDS")
    show_search_hits(app_after_sweep(ctx), " ".join(words), whole=whole, as_json=as_json)


command = click.Command(
    "search",
    callback=click.pass_context(_search),
    params=[
        click.Argument(["words"], nargs=-1, required=True),
        click.Option(["--conversations"], is_flag=True, help="All past conversations."),
        click.Option(["--words", "whole"], is_flag=True, help="Only whole words."),
        click.Option(["--json", "as_json"], is_flag=True, help="One object a line, for a program."),
    ],
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
