"""Messages between conversations."""

import json
from functools import partial
from pathlib import Path

import pytest

from fakes.stores import run_in_threads
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.inbox import MAX_MESSAGE_CHARACTERS
from marid.core.conversation.records import InboxMessage
from marid.core.errors import BadInput, NotFound


def test_a_line_is_as_the_documents_have_it(home: FileConversations, folder: Path) -> None:
    sent = home.inbox.send(InboxMessage(sender="a", to="c", content="x", timestamp=5))
    line = json.loads((folder / "inbox.jsonl").read_bytes())
    assert line == {"id": sent.id, "timestamp": 5, "from": "a", "to": "c", "content": "x"}


def test_what_cannot_be_read_stays_and_a_torn_end_is_put_aside(home: FileConversations, folder: Path) -> None:
    """The defect: lines that could not be parsed were lost when the inbox was emptied."""
    home.create("c")
    path = folder / "inbox.jsonl"
    path.write_bytes(b'rubbish\n{"content":"old","timestamp":"x"}\n{"content":5}\n{"cut')
    sent = home.inbox.send(InboxMessage(sender="a", to="c", content="new"))
    assert [message.content for message in home.inbox.peek("c")] == ["old", "new"]
    home.inbox.remove("c", [sent])
    assert path.read_bytes() == b'rubbish\n{"content":"old","timestamp":"x"}\n{"content":5}\n'
    assert (folder / "inbox.jsonl.torn").exists()


def test_a_message_without_an_id_gets_one_that_it_keeps(home: FileConversations, folder: Path) -> None:
    """The defect: after the first message without an id all others were taken for that one."""
    home.create("c")
    path = folder / "inbox.jsonl"
    line = '{"from":"cron","content":"failed","own":[1]}\n'
    path.write_text(line + line + '{"id":null,"content":"x"}\n{"id":7,"content":"y"}\n')
    assert [message.id for message in home.inbox.peek("c")] == ["", "", "", "7"]
    collected = home.inbox.collect("c").messages
    assert [message.content for message in collected] == ["failed", "failed", "x", "y"]
    assert len({message.id for message in collected} - {""}) == 4
    assert home.inbox.collect("c").messages == collected
    assert json.loads(path.read_text().splitlines()[0])["own"] == [1]
    home.inbox.remove("c", collected[:1])
    with path.open("a") as file:
        file.write(line)
    home.inbox.remove("c", collected)
    assert path.read_text() == line


def test_lines_that_are_no_messages_are_told_with_their_file(home: FileConversations, folder: Path) -> None:
    home.create("c")
    path = folder / "inbox.jsonl"
    path.write_text('rubbish\n\n{"content":"x"}\n')
    post = home.inbox.collect("c")
    assert [message.content for message in post.messages] == ["x"]
    assert post.problem.startswith(f"'{path}' has a line that is not a message, ")
    path.write_text("rubbish\n[]\n")
    assert f"'{path}' has 2 lines that are not messages" in home.inbox.collect("c").problem
    assert home.inbox.collect("nowhere") == ((), "")


def test_many_who_send_at_once_lose_nothing(home: FileConversations) -> None:
    def work(name: str) -> None:
        for _ in range(5):
            home.inbox.send(InboxMessage(sender=name, to="c", content="x"))

    run_in_threads(*(partial(work, name) for name in "abc"))
    assert len(home.inbox.peek("c")) == 15


def test_a_message_has_a_limit_and_an_address(home: FileConversations) -> None:
    with pytest.raises(BadInput, match="at most"):
        home.inbox.send(InboxMessage(sender="a", to="c", content="x" * (MAX_MESSAGE_CHARACTERS + 1)))
    with pytest.raises(NotFound):
        home.inbox.remove("c", [InboxMessage("a", "c", "x", "1")])
    assert home.list() == ()
