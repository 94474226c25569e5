"""`marid export`: a conversation as a document."""

import os

import click

from marid.app.app import App
from marid.app.export import FORMS, export
from marid.app.output_files import save_bytes
from marid.core.errors import BadInput
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.view.console import print_note
from marid.faces.cli.view.entry_text import print_untrusted
from marid.text.display import quote_path

_HELP = """Write a conversation as markdown, JSON or a page of HTML that needs nothing else, to stdout or into FILE.

Without --all it is the window: what a model is sent. With it, it is all that was ever said.
"""


def _export(ctx: click.Context, conversation: str, form: str, output: str, *, everything: bool) -> None:
    app: App = ctx.obj()
    name = conversation_actions.resolve_after_sweep(app, conversation)
    text = export(app, name, form or _format_from_name(output), whole=everything)
    if not output:
        print_untrusted(text.removesuffix("\n"))
        return
    save_bytes([[text.encode("utf-8", "backslashreplace")]], os.path.join(app.cwd, output))
    print_note(f"'{name}' is in {quote_path(output)}")


def _format_from_name(output: str) -> str:
    """The form that a file's name asks for."""
    ending = os.path.splitext(output)[1].lower()
    forms = {
        "": "markdown",
        ".md": "markdown",
        ".markdown": "markdown",
        ".json": "json",
        ".html": "html",
        ".htm": "html",
    }
    if ending not in forms:
        raise BadInput(f"say the --format: '{quote_path(ending)}' is the end of none of {', '.join(FORMS)}")
    return forms[ending]


command = click.Command(
    "export",
    callback=click.pass_context(_export),
    params=[
        ConversationArgument(),
        click.Option(["-f", "--format", "form"], type=click.Choice(list(FORMS)), help="By FILE's name, else markdown."),
        click.Option(["-o", "--output"], type=click.Path(), default="", metavar="FILE", help="Write to FILE."),
        click.Option(["--all", "everything"], is_flag=True, help="All that was ever said, not only the window."),
    ],
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
