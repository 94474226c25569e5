"""`marid search`: search the text of all conversations."""

import click

from marid.core.errors import BadInput
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.commands.conversations import scope_after_sweep
from marid.faces.cli.operations.conversation_views import show_search_hits


@click.command("search", cls=HelpCommand)
@click.argument("words", nargs=-1, required=True)
@click.option("--conversations", is_flag=True, help="Search conversations (required).")
@click.option("--words", "whole", is_flag=True, help="Match whole words only; faster.")
@click.option("--json", "as_json", is_flag=True, help="Print hits as JSON, one per line.")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], *, conversations: bool, whole: bool, as_json: bool) -> None:
    """Search all conversations for entries that contain every one of WORDS.

    Prints each hit with its conversation, its time and the text around it. Case is ignored, and a word is also found
    inside a longer one.
    """
    if not conversations:
        raise BadInput("add --conversations: `marid search --conversations WORDS`")
    show_search_hits(scope_after_sweep(ctx), " ".join(words), whole=whole, as_json=as_json)
