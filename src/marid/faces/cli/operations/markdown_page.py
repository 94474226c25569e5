"""`--debug md=FILE`: a file as answers are shown, to try a style."""

from marid.app.app import RequestScope
from marid.app.input_files import read_text_file
from marid.faces.cli.argv.command_line import MARKDOWN_PAGE_KEY
from marid.faces.cli.view.console import print_line
from marid.faces.cli.view.rendering import MarkdownLook, render_markdown, terminal_width


def page_path(keys: str) -> str:
    """The file that a list of keys names, or nothing."""
    return next((word[len(MARKDOWN_PAGE_KEY) :] for word in keys.split(",") if word.startswith(MARKDOWN_PAGE_KEY)), "")


def show_page(scope: RequestScope, path: str) -> int:
    """Print it rendered, on a terminal or not. Raises: NotFound; BadInput for what is no text file."""
    look = MarkdownLook(scope.settings.display.markdown_style, scope.colour)
    print_line(render_markdown(read_text_file(scope, path), terminal_width(1), look).removesuffix("\n"))
    return 0
