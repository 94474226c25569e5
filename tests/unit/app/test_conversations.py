"""Conversations as a person handles them, over the real store."""

import threading
import time
from pathlib import Path

import pytest

from fakes.real_app import add_messages
from marid.app import conversations
from marid.app.app import RequestScope
from marid.app.conversations import conversation_exists
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.conversation.records import Conflict, ConversationLocked, CurrentConversation, Expiry, StorageSettings
from marid.core.errors import BadInput, NotFound
from marid.core.settings.values import storage_settings

NOON = time.mktime((2026, 1, 2, 12, 0, 0, 0, 0, -1))


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    return open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={"HOME": str(tmp_path)})


def test_without_a_word_the_current_one_is_meant(scope: RequestScope) -> None:
    assert conversations.resolve_name(scope) == "default"
    conversations.resolve_name(scope, "work", switch=True)
    assert conversations.resolve_name(scope) == "work"
    assert conversations.current(scope) == CurrentConversation("work", "default")


def test_a_name_that_nothing_was_said_under_can_be_given_up_or_exchanged(scope: RequestScope) -> None:
    add_messages(scope, "there", "hi")
    conversations.resolve_name(scope, "there", switch=True)
    conversations.resolve_name(scope, "slip", switch=True)
    with pytest.raises(Conflict, match="'there' already"):
        conversations.abandon_name(scope, "slip", "there")
    with pytest.raises(NotFound, match="no conversation 'other'"):
        conversations.abandon_name(scope, "other")
    assert conversations.abandon_name(scope, "slip", "right") == "right"
    assert conversations.current(scope) == CurrentConversation("right", "there")
    assert conversations.abandon_name(scope, "right") == "there"
    conversations.resolve_name(scope, "default", switch=True)
    with pytest.raises(NotFound):
        conversations.abandon_name(scope, "default")


def test_a_new_one_is_named_by_the_local_time_and_is_free(scope: RequestScope) -> None:
    assert conversations.resolve_name(scope, "new", clock=NOON) == "20260102_120000"
    assert conversations.resolve_name(scope, "new:fix", clock=NOON) == "fix_20260102_120000"
    add_messages(scope, "fix_20260102_120000", "x")
    add_messages(scope, "fix_20260102_120000_2", "x")
    assert conversations.resolve_name(scope, "new:fix", clock=NOON) == "fix_20260102_120000_3"
    with pytest.raises(BadInput, match="prefix"):
        conversations.resolve_name(scope, "new:")


@pytest.mark.parametrize("word", ["a/b", "..", "system", "SYSTEM", "x" * 101, "new:a/b", "é"])
def test_what_cannot_be_a_name_is_refused_before_anything_is_made(
    scope: RequestScope, tmp_path: Path, word: str
) -> None:
    with pytest.raises(BadInput):
        conversations.resolve_name(scope, word, switch=True)
    assert not (tmp_path / "home").exists()


def test_an_id_means_the_conversation_that_has_it(scope: RequestScope) -> None:
    add_messages(scope, "work", "x")
    [listed] = conversations.list_conversations(scope)
    assert conversations.resolve_name(scope, listed.meta.id) == "work"


def test_the_list_says_who_holds_one(scope: RequestScope) -> None:
    add_messages(scope, "a", "x")
    with scope.stores.conversations.open("b", create=True):
        first, second = conversations.list_conversations(scope)
        assert (first.meta.name, first.holder) == ("a", None)
        assert (second.meta.name, second.holder is not None) == ("b", True)
    assert conversations.conversation_names(scope) == ("a", "b")


def test_an_overview_counts_messages_and_shows_the_beginning_of_the_summary(scope: RequestScope) -> None:
    assert conversations.overview(scope, "never")[2:] == (0, "")
    add_messages(scope, "a", "x", "y")
    with scope.stores.conversations.open("a") as held:
        held.write_note("summary", "First line.\nSecond.")
    assert conversations.overview(scope, "a")[2:] == (2, "First line.")


def test_a_log_is_the_window_from_either_end(scope: RequestScope) -> None:
    add_messages(scope, "a", "1", "2", "3")
    for count, expected in [(0, "123"), (2, "23"), (-2, "12"), (9, "123")]:
        assert "".join(entry.content for entry in conversations.log(scope, "a", count)) == expected
    with pytest.raises(NotFound):
        conversations.log(scope, "b")


def test_clearing_empties_the_window_and_keeps_the_transcript(scope: RequestScope) -> None:
    assert conversations.clear(scope, "a") is False
    add_messages(scope, "a", "1", "2")
    assert conversations.clear(scope, "a") is True
    assert conversations.clear(scope, "a") is False
    assert conversations.log(scope, "a") == ()
    assert [hit.entry.content for hit in conversations.search(scope, "1")] == ["1"]


def test_one_that_is_held_is_not_destroyed(scope: RequestScope) -> None:
    with scope.stores.conversations.open("a", create=True), pytest.raises(ConversationLocked):
        conversations.destroy(scope, "a")


def test_one_ends_by_itself_when_its_time_has_come(scope: RequestScope) -> None:
    assert conversations.expire(scope, "a", at=5) == Expiry(at=5)
    assert conversations.expire(scope, "a", after_inactive=3600) == Expiry(at=5, after_inactive=3600)
    assert conversations.sweep(scope) == conversations.SweepReport(("a",))
    assert conversations.conversation_names(scope) == ()


def test_an_id_ends_the_conversation_that_has_it(scope: RequestScope) -> None:
    """The defect: one was made that was named like the id."""
    add_messages(scope, "work", "x")
    key = scope.stores.conversations.get_meta("work").id
    assert conversations.expire(scope, key, at=5) == Expiry(at=5)
    assert conversations.conversation_names(scope) == ("work",)
    assert conversations.expire(scope, "fresh", after_inactive=7) == Expiry(after_inactive=7)
    assert conversations.conversation_names(scope) == ("fresh", "work")


def test_what_is_destroyed_while_it_is_listed_is_left_out(scope: RequestScope) -> None:
    store = scope.stores.conversations
    store.create("stays")
    done = threading.Event()

    def work() -> None:
        for _ in range(100):
            store.create("goes")
            store.destroy("goes")
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        assert {row.meta.name for row in conversations.list_conversations(scope)} <= {"stays", "goes"}
    thread.join()


def test_a_search_wants_a_word(scope: RequestScope) -> None:
    with pytest.raises(BadInput):
        conversations.search(scope, " ")


def test_each_conversation_is_kept_by_its_own_settings(scope: RequestScope, tmp_path: Path) -> None:
    add_messages(scope, "a", "x")
    (tmp_path / "home/contexts/a/local.toml").write_text("[storage]\npartition_max_entries = 7\n")
    assert storage_settings(scope.within("a").resolve().settings).partition_max_entries == 7
    assert storage_settings(scope.within("b").resolve().settings) == StorageSettings()


def handed(kind: str, content: str, sender: str, to: str) -> Entry:
    return Entry(entry_type=f"flow_control_{kind}", content=content, sender=sender, to=to)


def test_what_a_model_says_by_a_call_is_a_message_to_whoever_reads_it() -> None:
    plain = Entry(entry_type=MESSAGE, content="hi")
    entries = [
        plain,
        handed("call", '{"message": "Which one?"}', "work", "call_user"),
        handed("result", "The round ends.", "call_user", "work"),
        handed("call", '{"prompt": "go on"}', "work", "call_agent"),
        handed("result", "Going on.", "call_agent", "work"),
        handed("call", "{}", "work", "call_user"),
        handed("call", "[]", "work", "call_user"),
        handed("call", "no JSON", "work", "call_user"),
        handed("call", "[" * 100_000, "work", "call_user"),
    ]
    told = [(one.entry_type, one.sender, one.content) for one in conversations.readable_entries(entries)]
    assert told == [
        (MESSAGE, "", "hi"),
        (MESSAGE, "work", "Which one?"),
        ("tool_call", "work", '{"prompt": "go on"}'),
        ("tool_result", "call_agent", "Going on."),
        (MESSAGE, "work", "[]"),
        (MESSAGE, "work", "no JSON"),
        (MESSAGE, "work", "[" * 100_000),
    ]


def test_only_the_one_that_may_be_unused_need_not_be_there(scope: RequestScope) -> None:
    assert not conversation_exists(scope, "a", unused="a")
    with pytest.raises(NotFound, match="'b'"):
        conversation_exists(scope, "b", unused="a")
    add_messages(scope, "b", "x")
    assert conversation_exists(scope, "b")


def test_what_is_no_name_is_refused(scope: RequestScope) -> None:
    with pytest.raises(BadInput):
        conversation_exists(scope, "a/b", unused="a/b")
