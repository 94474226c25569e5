"""Conversations with messages, written without a model."""

from collections.abc import Sequence
from pathlib import Path

from marid.app.app import App
from marid.bootstrap.wiring import build
from marid.core.conversation.entry import AGENT, MESSAGE, TOOL_CALL, TOOL_RESULT, USER, Entry


def workbench(place: Path) -> App:
    """The real App, over an empty home and project."""
    project = place / "project"
    project.mkdir(exist_ok=True)
    return build(cwd=str(project), home=str(place / "home"), environ={"HOME": str(place)})


def said(app: App, name: str, *texts: str) -> None:
    """Store messages of user and agent in turns."""
    entries = [
        Entry(
            entry_type=MESSAGE,
            content=text,
            sender="bot" if number % 2 else "ann",
            to="x",
            role=AGENT if number % 2 else USER,
        )
        for number, text in enumerate(texts)
    ]
    store(app, name, entries)


def called(app: App, name: str, tool: str, args: str, result: str) -> None:
    """Store a call and its result."""
    store(
        app,
        name,
        [
            Entry(entry_type=TOOL_CALL, content=args, sender=name, to=tool, tool_call_id="1"),
            Entry(entry_type=TOOL_RESULT, content=result, sender=tool, to=name, tool_call_id="1"),
        ],
    )


def store(app: App, name: str, entries: Sequence[Entry]) -> None:
    """Append entries to a conversation, which is created if it does not exist."""
    with app.stores(app.settings).conversations.open(name, create=True) as held:
        held.append(entries)


def note(app: App, name: str, kind: str, text: str) -> None:
    """Write a note."""
    with app.stores(app.settings).conversations.open(name, create=True) as held:
        held.write_note(kind, text)
