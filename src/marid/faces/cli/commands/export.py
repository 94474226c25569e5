"""`marid export`: a conversation as a document."""

import os

import click

from marid.app.app import RequestScope
from marid.app.export import FORMS, export
from marid.app.output_files import save_bytes
from marid.core.errors import BadInput
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.view.console import print_note
from marid.faces.cli.view.entry_text import print_untrusted
from marid.text.display import quote_path

_TYPES = {"": "markdown", ".md": "markdown", ".markdown": "markdown", ".json": "json", ".html": "html", ".htm": "html"}


@click.command("export", cls=HelpCommand, params=[ConversationArgument()])
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    help="Output format (default: by FILE's extension, else markdown).",
)
@click.option("-o", "--output", type=click.Path(), default="", metavar="FILE", help="Write to FILE.")
@click.option("--all", "everything", is_flag=True, help="Export the whole history, not only the window.")
@click.pass_context
def command(ctx: click.Context, conversation: str, form: str, output: str, *, everything: bool) -> None:
    """Write a conversation as markdown, JSON or a self-contained HTML page, to stdout or to FILE.

    Without --all, only the window is exported: the part that is sent to the model.
    """
    scope: RequestScope = ctx.obj()
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    text = export(scope, name, form or _format_from_name(output), whole=everything)
    if not output:
        print_untrusted(text.removesuffix("\n"))
        return
    save_bytes([[text.encode("utf-8", "backslashreplace")]], os.path.join(scope.cwd, output))
    print_note(f"exported '{name}' to {quote_path(output)}")


def _format_from_name(output: str) -> str:
    ending = os.path.splitext(output)[1].lower()
    if ending not in _TYPES:
        raise BadInput(f"unknown file type '{quote_path(ending)}': use .md, .json or .html, or --format")
    return _TYPES[ending]
