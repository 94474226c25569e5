"""Conversations in which something was said, without a model."""

from collections.abc import Sequence
from pathlib import Path

from marid.app.app import App
from marid.bootstrap.wiring import build
from marid.core.conversation.entry import AGENT, MESSAGE, TOOL_CALL, TOOL_RESULT, USER, Entry


def workbench(place: Path) -> App:
    """The real one, over a home and a project of its own."""
    project = place / "project"
    project.mkdir(exist_ok=True)
    return build(cwd=str(project), home=str(place / "home"), environ={"HOME": str(place)})


def said(app: App, name: str, *texts: str) -> None:
    """User and agent in turns."""
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
    """A call and its result."""
    store(
        app,
        name,
        [
            Entry(entry_type=TOOL_CALL, content=args, sender=name, to=tool, tool_call_id="1"),
            Entry(entry_type=TOOL_RESULT, content=result, sender=tool, to=name, tool_call_id="1"),
        ],
    )


def store(app: App, name: str, entries: Sequence[Entry]) -> None:
    """Put entries into a conversation, which is made if it is not there."""
    with app.stores(app.settings).conversations.open(name, create=True) as held:
        held.append(entries)


def note(app: App, name: str, kind: str, text: str) -> None:
    """Write one of its notes."""
    with app.stores(app.settings).conversations.open(name, create=True) as held:
        held.write_note(kind, text)
