"""What a person sees who types only `marid`."""

import os

from marid.app.app import App
from marid.core.version import __version__
from marid.faces.cli.view.console import print_line

TRY_NEXT = (
    ('marid "what does this project do?"', "talk about it; with no key it answers from the files"),
    ("marid -c review", "a conversation of its own, from now on"),
    ("marid conversations", "those that there are; `marid log` shows one"),
    ("marid overview", "what is in this project, in files and tokens"),
    ("marid context --copy", "the whole project on the clipboard, secrets masked"),
    ("marid context --budget 20000 src", "the most useful of src in 20,000 tokens"),
    ("marid context --diff --changed-since main", "your branch: the diff and the files it touches"),
    ("marid context --explain PATH", "why a file is in or out"),
    ("marid tools", "some 60 tools to read, change and run it"),
    ("marid tool get_tree --path .", "call one"),
    ("marid mcp", "serve all of that to any MCP client"),
)


def greet(app: App) -> None:
    """Say what this is, what is set up and what to try."""
    print_line(f"{bold('marid', app)} {__version__}: context, memory, hands and knowledge on your own code\n")
    rows = [
        ("project", app.project),
        ("home", app.settings.home + ("" if os.path.isdir(app.settings.home) else " (made when needed)")),
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
    """What to try."""
    print_line(bold("Try", app))
    width = max(len(line) for line, _ in TRY_NEXT)
    for line, meaning in TRY_NEXT:
        print_line(f"  {line:<{width}}  {meaning}")
    print_line("  marid --help")


def bold(text: str, app: App) -> str:
    """`text` in bold where the terminal may be coloured."""
    return f"\x1b[1m{text}\x1b[0m" if app.colour else text
