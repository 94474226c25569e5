"""`--debug md=FILE`: a file as answers are shown, to try a style."""

from marid.app.app import App
from marid.app.reading import text_of
from marid.faces.cli.exits import print_out
from marid.faces.cli.line import PAGE
from marid.faces.cli.rendering import Look, columns, rendered


def named_page(keys: str) -> str:
    """The file that a list of keys names, or nothing."""
    return next((word[len(PAGE) :] for word in keys.split(",") if word.startswith(PAGE)), "")


def show_page(app: App, path: str) -> int:
    """Print it rendered, on a terminal or not. Raises: NotFound; BadInput for what is no text file."""
    look = Look(app.resolve("", {}).display.markdown_style, app.colour)
    print_out(rendered(text_of(app, path), columns(1), look).removesuffix("\n"))
    return 0
