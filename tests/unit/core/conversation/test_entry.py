"""Entries and who speaks in them."""

import pytest

from marid.core.conversation.entry import AGENT, SYSTEM, USER, Entry, role_of


@pytest.mark.parametrize(
    ("entry", "role"),
    [
        (Entry(entry_type="message", sender="alice", to="c"), USER),
        (Entry(entry_type="message", sender="c", to="user"), AGENT),
        (Entry(entry_type="compaction", sender="system", to="c"), SYSTEM),
        (Entry(entry_type="message", sender="user", to="user", role=USER), USER),
    ],
)
def test_the_role_is_what_is_said_else_by_whom_it_is_said_to(entry: Entry, role: str) -> None:
    assert role_of(entry) == role
