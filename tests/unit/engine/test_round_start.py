from pathlib import Path

import anyio
import pytest

from fakes.events import emit_into
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import INTERRUPTED, MESSAGE, TOOL_CALL, Entry
from marid.core.conversation.records import InboxMessage
from marid.core.events import Notice
from marid.core.round_events import InboxInjected, RoundEvent
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import RoundPrompt, RoundStamp, prompt_entry
from marid.engine.round_factory import last_round_id, start_round
from marid.engine.turns import parse_turns
from marid.toolkit.thread_pool import DaemonThreadPool

STAMP = RoundStamp("talk", "r2")
PROMPT = RoundPrompt("hi", "user")


@pytest.fixture
def home(tmp_path: Path) -> FileConversations:
    return FileConversations(str(tmp_path))


def begun(
    home: FileConversations, *before: Entry, prompt: RoundPrompt = PROMPT
) -> tuple[list[Entry], list[RoundEvent]]:
    heard: list[RoundEvent] = []
    held = home.open("talk", create=True)
    if before:
        held.append(before)

    async def main() -> None:
        await start_round(AsyncConversation(held, emit_into(heard), DaemonThreadPool()), home.inbox, STAMP, prompt)

    anyio.run(main)
    entries = list(held.entries())[1:]
    held.close()
    return entries, heard


def test_messages_leave_the_inbox_once_the_prompt_that_holds_them_is_stored(home: FileConversations) -> None:
    home.inbox.send(InboxMessage("bob", "talk", "one"))
    entries, heard = begun(home)
    assert "[From: bob] one" in entries[0].content
    assert home.inbox.peek("talk") == ()
    assert heard[-1] == InboxInjected(1)


def test_messages_whose_prompt_was_stored_before_a_crash_are_only_taken_out(home: FileConversations) -> None:
    sent = home.inbox.send(InboxMessage("bob", "talk", "one"))
    entries, heard = begun(home, prompt_entry(RoundPrompt("x", "user"), [sent], STAMP, 0.0))
    assert "bob" not in entries[-1].content
    assert home.inbox.peek("talk") == ()
    assert InboxInjected not in [type(what) for what in heard]


def test_a_prompt_about_messages_is_not_said_when_all_of_them_are_known(home: FileConversations) -> None:
    sent = home.inbox.send(InboxMessage("bob", "talk", "one"))
    stored = prompt_entry(RoundPrompt("x", "user"), [sent], STAMP, 0.0)
    entries, heard = begun(home, stored, prompt=RoundPrompt("[Read them.]", "user", automatic=True))
    assert len(entries) == 1
    assert [type(what) for what in heard] == []
    assert home.inbox.peek("talk") == ()


def test_what_is_wrong_with_an_inbox_is_told(home: FileConversations) -> None:
    home.create("talk")
    (Path(home.settings_folder("talk")) / "inbox.jsonl").write_text("it is strange\n")
    _, heard = begun(home)
    assert [what for what in heard if isinstance(what, Notice) and "inbox.jsonl" in what.text]


def test_a_new_prompt_closes_the_calls_that_an_earlier_round_left_open(home: FileConversations) -> None:
    call = Entry(entry_type=TOOL_CALL, content="{}", to="poke", tool_call_id="1", round="r1")
    entries, _ = begun(home, call)
    _, closed, prompt = entries
    assert (closed.status, closed.tool_call_id, closed.round) == (INTERRUPTED, "1", "r1")
    assert "interrupted" in closed.content
    assert prompt.metadata == {"prompt": "hi"}


def test_a_round_goes_on_under_its_own_name() -> None:
    said = Entry(entry_type=MESSAGE, role="user", round="r1")
    call = Entry(entry_type=TOOL_CALL, to="poke", round="r2")
    assert last_round_id(parse_turns([said])) == "r1"
    assert last_round_id(parse_turns([said, call])) == "r2"
    assert last_round_id(()) == ""
