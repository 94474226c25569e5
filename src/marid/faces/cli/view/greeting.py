"""What `marid` without arguments prints."""

import os

from marid.app.app import App
from marid.core.version import __version__
from marid.faces.cli.view.console import print_line

TRY_NEXT = (
    ('marid "what does this project do?"', "ask about it; without an API key, marid searches the files"),
    ("marid -c review", "switch to a conversation named review"),
    ("marid conversations", "list conversations; `marid log` shows one"),
    ("marid overview", "files and tokens of this project"),
    ("marid context --copy", "copy the project to the clipboard, secrets masked"),
    ("marid context --budget 20000 src", "the most useful parts of src in 20,000 tokens"),
    ("marid context --diff --changed-since main", "your branch: its diff and the files it changes"),
    ("marid context --explain PATH", "why a file is included or not"),
    ("marid tools", "list some 60 tools to read, change and run code"),
    ("marid tool get_tree --path .", "call one"),
    ("marid mcp", "serve the tools to any MCP client"),
)


def greet(app: App) -> None:
    """Print what marid is, the main settings and what to try."""
    print_line(f"{bold('marid', app)} {__version__}: context, conversations and tools on your own code\n")
    rows = [
        ("project", app.project),
        ("home", app.settings.home + ("" if os.path.isdir(app.settings.home) else " (created when needed)")),
        ("tokens", app.settings.context.encoding),
        ("secrets", "masked" if app.settings.context.mask else "not masked"),
        ("size limit", f"{app.settings.context.max_size_mb:g} MB"),
    ]
    for name, value in rows:
        print_line(f"  {name:<11}{value}")
    for note in app.notes:
        print_line(f"  {note}")
    print_line("")
    show_try_next(app)


def show_try_next(app: App) -> None:
    """Print commands to try."""
    print_line(bold("Try", app))
    width = max(len(line) for line, _ in TRY_NEXT)
    for line, meaning in TRY_NEXT:
        print_line(f"  {line:<{width}}  {meaning}")
    print_line("  marid --help")


def bold(text: str, app: App) -> str:
    """`text` in bold if colour is on."""
    return f"\x1b[1m{text}\x1b[0m" if app.colour else text
