"""Conversations with messages, written without a model."""

from collections.abc import Sequence
from pathlib import Path

from marid.app.app import RequestScope
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import AGENT, MESSAGE, TOOL_CALL, TOOL_RESULT, USER, Entry


def workbench(place: Path) -> RequestScope:
    """The real App, over an empty home and project."""
    project = place / "project"
    project.mkdir(exist_ok=True)
    return open_request(cwd=str(project), home=str(place / "home"), environ={"HOME": str(place)})


def said(scope: RequestScope, name: str, *texts: str) -> None:
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
    store(scope, name, entries)


def called(scope: RequestScope, name: str, tool: str, args: str, result: str) -> None:
    """Store a call and its result."""
    store(
        scope,
        name,
        [
            Entry(entry_type=TOOL_CALL, content=args, sender=name, to=tool, tool_call_id="1"),
            Entry(entry_type=TOOL_RESULT, content=result, sender=tool, to=name, tool_call_id="1"),
        ],
    )


def store(scope: RequestScope, name: str, entries: Sequence[Entry]) -> None:
    """Append entries to a conversation, which is created if it does not exist."""
    with scope.stores.conversations.open(name, create=True) as held:
        held.append(entries)


def note(scope: RequestScope, name: str, kind: str, text: str) -> None:
    """Write a note."""
    with scope.stores.conversations.open(name, create=True) as held:
        held.write_note(kind, text)
