"""What `marid` without arguments prints."""

import os

from marid.app.app import RequestScope
from marid.core.version import __version__
from marid.faces.cli.view.console import print_line
from marid.faces.help_page import format_rows, page_width

TRY_NEXT = (
    ('marid "what does this project do?"', "ask about it; without an API key, marid searches the files"),
    ("marid -c review", "switch to a conversation named review"),
    ("marid conversations", "list conversations; `marid log` shows one"),
    ("marid overview", "files and tokens of this project"),
    ("marid context --copy", "copy the project to the clipboard, secrets masked"),
    ("marid context --budget 20000 src", "the most useful parts of src in 20,000 tokens"),
    ("marid context --diff main --changed-since main", "the diff to main and the files that differ"),
    ("marid context --explain PATH", "why a file is included or not"),
    ("marid tools", "list some 60 tools to read, change and run code"),
    ("marid tool get_tree --path .", "call one"),
    ("marid mcp", "serve the tools to any MCP client"),
)


def greet(scope: RequestScope) -> None:
    """Print what marid is, the main settings and what to try."""
    print_line(f"{bold('marid', scope)} {__version__}: context, conversations and tools on your own code\n")
    rows = [
        ("project", scope.project),
        ("home", scope.home + ("" if os.path.isdir(scope.home) else " (created when needed)")),
        ("tokens", scope.settings.context.encoding),
        ("secrets", "masked" if scope.settings.context.mask else "not masked"),
        ("size limit", f"{scope.settings.context.max_size_mb:g} MB"),
    ]
    for name, value in rows:
        print_line(f"  {name:<11}{value}")
    for note in scope.notes:
        print_line(f"  {note}")
    print_line("")
    show_try_next(scope)


def show_try_next(scope: RequestScope) -> None:
    """Print commands to try."""
    print_line(bold("Try", scope))
    width = page_width(0)
    print_line(format_rows(TRY_NEXT, width, max(len(line) for line, _ in TRY_NEXT)) + "  marid --help")


def bold(text: str, scope: RequestScope) -> str:
    """`text` in bold if colour is on."""
    return f"\x1b[1m{text}\x1b[0m" if scope.colour else text
