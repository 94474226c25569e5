"""Every store of conversations keeps the promises of `ports.conversations` and `ports.transcript`."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol
from uuid import UUID

import pytest

from fakes.stores import Clock, TunedConversations, run_in_threads, user_message
from marid.core.conversation.entry import AGENT, ANCHORS, ARCHIVAL, COMPACTION, MESSAGE, USER, Entry, role_of
from marid.core.conversation.records import (
    Conflict,
    ConversationLocked,
    Expiry,
    InboxMessage,
    SequenceConflict,
    StorageSettings,
    SweepResult,
)
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.ports.conversations import ConversationFiles, ConversationLifetimes, Conversations, Inbox, TerminalSession
from marid.ports.transcript import ConversationReader

NAMES = ["", "-", "system", "SyStEm", "..", "a/b", "a b", "é", "x" * 101, "a\n", ".lock", "a\0"]


class Store(Conversations, ConversationFiles, ConversationLifetimes, Protocol):
    """One object implements all ports."""

    @property
    def session(self) -> TerminalSession: ...

    @property
    def inbox(self) -> Inbox: ...


@pytest.fixture
def clock() -> Clock:
    return Clock(1_800_000_000.0)


@pytest.fixture(params=[1000, 3], ids=["files", "small files"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Store:
    most = request.param
    return TunedConversations(str(tmp_path / "home"), StorageSettings(partition_max_entries=most), clock=clock)


def reads(reader: ConversationReader) -> list[Callable[[], object]]:
    find, note = partial(reader.find, "x"), partial(reader.read_note, "todos")
    walks = (lambda: list(reader.entries()), lambda: list(reader.search("x")))
    return [reader.window, reader.meta, reader.sequence, find, note, *walks]


def test_a_new_home_has_no_conversations(store: Store) -> None:
    assert store.list() == ()
    assert list(store.search("x")) == []
    assert store.sweep() == SweepResult()
    assert store.inbox.peek("c") == ()
    for look in (store.get_meta, store.read, store.open, store.destroy, store.holder, store.expiry):
        with pytest.raises(NotFound, match="c"):
            look("c")


def test_a_conversation_is_found_by_name_and_by_id_which_is_also_its_name_if_it_has_none(store: Store) -> None:
    made = store.create("c", source="REST", title="T")
    assert (made.name, made.source, made.title, made.created_ms) == ("c", "REST", "T", 1_800_000_000_000)
    assert store.get_meta(made.id).id == store.get_meta("c").id == made.id
    assert [meta.id for meta in store.list()] == [made.id]
    unnamed = store.create()
    assert unnamed.name == unnamed.id in [meta.id for meta in store.list()]
    assert store.create("x" * 100).name == "x" * 100
    assert len({meta.id for meta in store.list()}) == 3
    with pytest.raises(Conflict, match="'c'"):
        store.create("c")


def test_every_method_takes_an_id_for_a_name(store: Store) -> None:
    """The defect: a message to an id created a conversation of that name, which hid the right one."""
    made = store.create("c")
    other = store.create("d")
    assert store.resolve_name(made.id) == store.resolve_name("c") == "c"
    assert store.resolve_name("unknown") == "unknown"
    with pytest.raises(BadInput):
        store.resolve_name("a/b")
    sent = store.inbox.send(InboxMessage(sender="d", to=made.id, content="x"))
    assert sent.to == "c"
    assert store.inbox.peek(made.id) == store.inbox.peek("c") == (sent,)
    store.inbox.remove(made.id, [sent])
    assert store.inbox.peek("c") == ()
    store.set_expiry(made.id, Expiry(at=2_000_000_000))
    assert store.expiry("c") == Expiry(at=2_000_000_000)
    with store.open(made.id, create=True) as held:
        assert held.meta().name == "c"
    for conflict in (lambda: store.create(made.id), lambda: store.rename("d", made.id)):
        with pytest.raises(Conflict, match=made.id):
            conflict()
    assert [meta.name for meta in store.list()] == ["c", "d"]
    assert store.rename("d", other.id).name == other.id


def test_ids_are_uuids_of_version_7_in_the_order_of_the_entries(store: Store) -> None:
    made = store.create("c")
    with store.open("c") as held:
        held.append([user_message("one"), user_message("two")])
        held.append([user_message("three")])
        ids = [entry.id for entry in held.entries()]
    assert {UUID(text).version for text in (made.id, *ids)} == {7}
    assert len(ids) == 4
    assert ids[1:] == sorted(ids[1:])


@pytest.mark.parametrize(
    "key", ["01jd3v8m9k2x4c5b6n7q8r9s0t", "8f14e45f-ceea-467f-a9d3-5b1c2d3e4f50", "old-1-0badcafe"]
)
def test_ids_of_earlier_versions_stay_valid(store: Store, key: str) -> None:
    with store.open("c", create=True) as held:
        (stored,) = held.append([user_message("x")._replace(id=key)])
    assert store.read("c").find(key) == stored
    assert stored.id == key
    with store.open("c") as held:
        assert held.add_anchor(Entry(entry_type=COMPACTION, content="s"), [key]) == held.window()[0]
        assert held.window()[1] == stored
    assert store.create(key).name == key


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_wrong_name_is_refused_at_every_entrance_before_anything_is_made(store: Store, name: str) -> None:
    store.create("c")
    doors: list[Callable[[], object]] = [
        lambda: store.get_meta(name),
        lambda: store.open(name, create=True),
        lambda: store.read(name),
        lambda: store.rename("c", name),
        lambda: store.rename(name, "d"),
        lambda: store.destroy(name),
        lambda: store.archive(name),
        lambda: store.session.switch(name),
        lambda: store.inbox.send(InboxMessage(sender="c", to=name, content="x")),
        lambda: store.inbox.peek(name),
        lambda: store.set_expiry(name, Expiry(at=1)),
    ]
    if name:
        doors.append(lambda: store.create(name))
    for door in doors:
        with pytest.raises(BadInput):
            door()
    assert [meta.name for meta in store.list()] == ["c"]


def test_entries_come_back_as_they_were_stored(store: Store) -> None:
    entry = Entry(
        entry_type="something_new",
        content="é\u2028\x85\0\ud800\n\"'",
        sender="a",
        to="b",
        role=AGENT,
        status="interrupted",
        round="r1",
        tool_call_id="t1",
        metadata={"n": [1, {"x": None}]},
        extra={"of_others": True},
    )
    with store.open("c", create=True) as held:
        (stored,) = held.append([entry])
        assert stored == entry._replace(id=stored.id, sequence=2, time_ms=1_800_000_000_000)
        assert held.window()[-1] == stored
    assert store.read("c").window()[-1] == stored
    assert list(store.read("c").entries(after=1)) == [stored]
    with store.open("c") as held:
        assert held.window()[-1] == stored


def test_entries_are_numbered_without_gaps_and_several_are_one(store: Store) -> None:
    with store.open("c", create=True) as held:
        assert held.sequence() == 1
        held.append([user_message("a"), user_message("b")])
        held.append([user_message("c")])
        assert held.append([]) == ()
        assert [entry.sequence for entry in held.entries()] == [1, 2, 3, 4]
        assert held.sequence() == store.read("c").sequence() == 4


def test_an_append_that_expects_another_place_is_told_where_it_is(store: Store) -> None:
    with store.open("c", create=True) as held:
        held.append([user_message("a")], expected=1)
        with pytest.raises(SequenceConflict, match="2") as told:
            held.append([user_message("b")], expected=1)
        assert told.value.sequence == 2
        held.append([user_message("b")], expected=2)
        assert held.sequence() == 3


def test_a_locked_conversation_reports_its_holder(store: Store) -> None:
    with store.open("c", create=True) as held:
        token = held.fencing_token()
        changes: list[Callable[[], object]] = [
            lambda: store.open("c"),
            lambda: store.destroy("c"),
            lambda: store.archive("c"),
            lambda: store.rename("c", "d"),
        ]
        for change in changes:
            with pytest.raises(ConversationLocked, match="'c' is in use") as told:
                change()
            assert told.value.holder is not None
            assert told.value.holder.token == token
            assert store.holder("c") == told.value.holder
        assert store.read("c").sequence() == 1
    assert store.holder("c") is None
    with store.open("c") as again:
        assert again.fencing_token() > token


def test_opening_waits_until_the_lease_is_free(store: Store) -> None:
    first = store.open("c", create=True)
    opened = threading.Event()

    def second() -> None:
        with store.open("c", wait=30):
            opened.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert not opened.wait(0.1)
    first.close()
    assert opened.wait(30)
    thread.join()


def test_every_method_of_a_closed_conversation_fails(store: Store) -> None:
    held = store.open("c", create=True)
    held.append([user_message("a")])
    held.close()
    held.close()
    doors: list[Callable[[], object]] = [
        lambda: held.append([user_message("x")]),
        lambda: held.add_anchor(Entry(entry_type=COMPACTION)),
        held.clear,
        lambda: held.write_note("todos", "x"),
        lambda: held.update_meta(lambda meta: meta),
        held.fencing_token,
        held.problems,
    ]
    for door in [*doors, *reads(held)]:
        with pytest.raises(Unavailable, match="closed"):
            door()
    assert store.read("c").sequence() == 2


def test_every_method_of_a_reader_of_a_destroyed_conversation_fails(store: Store) -> None:
    """The defect: it read an empty transcript."""
    with store.open("c", create=True) as held:
        held.append([user_message("a")])
    reader, key = store.read("c"), store.get_meta("c").id
    assert reader.sequence() == 2
    store.destroy(key)
    assert store.list() == ()
    for door in reads(reader):
        with pytest.raises(NotFound, match="'c'"):
            door()
    assert store.create("c").id != key


def test_appends_of_many_threads_are_neither_lost_nor_doubled(store: Store) -> None:
    with store.open("c", create=True) as held:

        def work(name: str) -> None:
            for number in range(10):
                held.append([user_message(f"{name} {number}")])

        run_in_threads(*(partial(work, name) for name in "abcd"))
        entries = list(held.entries(types=[MESSAGE]))
        assert [entry.sequence for entry in entries] == list(range(2, 42))
        for name in "abcd":
            assert [e.content for e in entries if e.content[0] == name] == [f"{name} {number}" for number in range(10)]
        assert list(held.window()[1:]) == entries
    assert list(store.read("c").window()[1:]) == entries


def test_an_anchor_begins_the_window_anew_and_brings_what_it_kept(store: Store) -> None:
    """Details 4 and the defect: messages that compaction kept must survive the next opening."""
    with store.open("c", create=True) as held:
        stored = [held.append([user_message(f"m{number}")])[0] for number in range(10)]
        kept = [stored[7].id, stored[2].id]
        anchor = held.add_anchor(Entry(entry_type=COMPACTION, content="sum"), kept)
        last = held.append([user_message("later")])[0]
        wanted = (anchor, stored[7], stored[2], last)
        assert held.window() == wanted
        assert store.read("c").window() == wanted
    with store.open("c") as held:
        assert held.window() == wanted
        again = held.add_anchor(Entry(entry_type=COMPACTION), [stored[2].id, last.id])
        assert held.window() == (again, stored[2], last)
    assert store.read("c").window() == (again, stored[2], last)


def test_an_anchor_keeps_only_what_is_in_the_window(store: Store) -> None:
    with store.open("c", create=True) as held:
        with pytest.raises(BadInput):
            held.add_anchor(Entry(entry_type=COMPACTION), ["nowhere"])
        with pytest.raises(BadInput):
            held.add_anchor(user_message("x"))


def test_clearing_archives_the_history_and_keeps_it(store: Store) -> None:
    with store.open("c", create=True) as held:
        assert held.clear() is None
        (stored,) = held.append([user_message("a")])
        anchor = held.clear()
        assert anchor is not None
        assert anchor.entry_type == ARCHIVAL
        assert held.window() == (anchor,)
        assert held.clear() is None
        assert held.find(stored.id) == stored
    assert store.read("c").window() == (anchor,)


def test_what_is_never_sent_to_a_model_is_not_in_the_window(store: Store) -> None:
    with store.open("c", create=True) as held:
        held.append([Entry(entry_type="system_prompt_changed", content="p"), user_message("a")])
        assert [entry.content for entry in held.window()[1:]] == ["a"]
    assert [entry.content for entry in store.read("c").window()[1:]] == ["a"]


def test_entries_are_found_by_id_by_type_and_from_a_cursor(store: Store) -> None:
    with store.open("c", create=True) as held:
        stored = [held.append([user_message(f"m{n}", entry_type="odd" if n % 2 else MESSAGE)])[0] for n in range(9)]
        for reader in (held, store.read("c")):
            assert [reader.find(entry.id) for entry in stored] == stored
            assert reader.find("nothing") is None
            assert reader.find('é"\\') is None
            assert [entry.content for entry in reader.entries(types={"odd"})] == ["m1", "m3", "m5", "m7"]
            assert list(reader.entries(after=8)) == stored[-2:]
            assert list(reader.entries(after=10)) == []


def test_a_follower_is_woken_at_once_and_for_every_change(store: Store) -> None:
    with store.open("c", create=True) as held:
        for reader in (held, store.read("c")):
            woken = threading.Event()
            unsubscribe = store.subscribe("c", woken.set)
            assert woken.wait(30)
            woken.clear()
            start, stored = held.sequence(), held.append([user_message("now")])
            assert woken.wait(30)
            assert tuple(reader.entries(after=start)) == stored
            unsubscribe()
            unsubscribe()
    woken.clear()
    store.subscribe(store.get_meta("c").id, woken.set)
    woken.clear()
    store.destroy("c")
    assert woken.wait(30)
    with pytest.raises(NotFound):
        store.subscribe("c", woken.set)


def test_a_follower_that_raises_is_dropped_and_the_others_are_woken(store: Store) -> None:
    calls: list[str] = []
    woken = threading.Event()

    def fail_at_the_second_call() -> None:
        calls.append("x")
        if len(calls) > 1:
            raise RuntimeError("the event loop is closed")

    with store.open("c", create=True) as held:
        store.subscribe("c", fail_at_the_second_call)
        store.subscribe("c", woken.set)
        for _ in range(3):
            woken.clear()
            held.append([user_message("x")])
            assert woken.wait(30)
    assert len(calls) == 2


def test_two_hundred_followers_do_not_cost_a_thread_each(store: Store) -> None:
    count = 200
    seen: list[str] = []

    async def follow(name: str, after: int) -> None:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        unsubscribe = store.subscribe(name, lambda: loop.call_soon_threadsafe(changed.set))
        reader = store.read(name)
        while not (new := tuple(reader.entries(after=after))):
            await changed.wait()
            changed.clear()
        unsubscribe()
        seen.append(new[0].content)

    async def main() -> int:
        held = [store.open(name, create=True) for name in ("a", "b")]
        before = threading.active_count()
        tasks = [asyncio.create_task(follow("ab"[number % 2], 1)) for number in range(count)]
        await asyncio.sleep(0.1)
        during = threading.active_count()
        for conversation in held:
            conversation.append([user_message("now")])
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        for conversation in held:
            conversation.close()
        return during - before

    assert asyncio.run(main()) <= 1
    assert seen == ["now"] * count


def test_a_list_is_paged_by_name_for_each_owner(store: Store) -> None:
    for name in ("d", "b", "a", "c"):
        store.create(name)
    store.create("bb", owner="ann")
    pages = [store.list(after=cursor, limit=2) for cursor in ("", "b", "bx", "d")]
    assert [[meta.name for meta in page] for page in pages] == [["a", "b"], ["c", "d"], ["c", "d"], []]
    assert [meta.name for meta in store.list()] == ["a", "b", "c", "d"]
    assert [(meta.name, meta.owner) for meta in store.list("ann", limit=9)] == [("bb", "ann")]
    with store.open("bb") as held:
        held.update_meta(lambda meta: meta._replace(title="t"))
    assert store.get_meta("bb").owner == "ann"


def test_the_files_of_a_conversation_are_in_its_own_folder(store: Store) -> None:
    folder = store.settings_folder("c")
    assert folder == store.settings_folder("c") != store.settings_folder("d")
    assert store.log_file("c", "x.jsonl").startswith(folder)
    with pytest.raises(BadInput):
        store.settings_folder("a/b")
    with pytest.raises(BadInput):
        store.log_file("a/b", "x")


def test_a_search_finds_words_and_parts_of_words_in_any_case(store: Store) -> None:
    """The defect: `orl` must be found in `world`, though filters know whole words only."""
    with store.open("c", create=True) as held:
        for number in range(8):
            held.append([user_message(f"Hello World{number}"), user_message(f"nothing, {number}")])
    with store.open("d", create=True) as held:
        held.append([user_message("hello there")])
    read = store.read("c")
    assert len(list(read.search("orl"))) == 8
    assert [entry.content for entry in read.search("world3 HELLO")] == ["Hello World3"]
    assert list(read.search("world", whole_words=True)) == []
    assert [entry.content for entry in read.search("WORLD3", whole_words=True)] == ["Hello World3"]
    assert list(read.search("world3 nothing", whole_words=True)) == []
    assert list(read.search("  ")) == []
    assert [entry.content for entry in read.search("lo worl 5")] == ["Hello World5"]
    assert [entry.content for entry in read.search("hing, 5")] == ["nothing, 5"]
    assert list(read.search("hing; 5")) == []
    assert {hit.conversation for hit in store.search("hello")} == {"c", "d"}
    assert [hit.entry.content for hit in store.search("there", whole=True)] == ["hello there"]


def test_metadata_can_be_changed_and_the_rest_stays(store: Store) -> None:
    made = store.create("c")
    with store.open("c") as held:
        held.update_meta(lambda meta: meta._replace(title="T", model="m", extra={"x": 1}, id="other", name="other"))
        changed = held.update_meta(lambda meta: meta._replace(flags={"f": True}, extra={}))
        assert (changed.title, changed.model, changed.flags, changed.extra) == ("T", "m", {"f": True}, {"x": 1})
    assert store.get_meta("c") == store.read("c").meta()._replace(last_message_ms=store.get_meta("c").last_message_ms)
    assert store.get_meta("c").id == made.id
    assert store.get_meta("c").title == "T"


def test_notes_are_replaced_as_a_whole(store: Store) -> None:
    with store.open("c", create=True) as held:
        for name in ("todos", "goals", "summary", "system_prompt", "reflection"):
            assert held.read_note(name) == ""
            held.write_note(name, f"{name} é")
            assert store.read("c").read_note(name) == f"{name} é"
        held.write_note("summary", "")
        assert held.read_note("summary") == ""
        assert [entry.content for entry in held.entries(types={"system_prompt_changed"})] == ["system_prompt é"]
        for bad in ("other", "../x"):
            with pytest.raises(BadInput):
                held.read_note(bad)
            with pytest.raises(BadInput):
                held.write_note(bad, "x")
    with store.open("d", create=True) as held:
        assert held.read_note("todos") == ""
        assert held.read_note("reflection") == "reflection é"


def test_a_rename_changes_nothing_else(store: Store) -> None:
    """The defect: a renamed conversation lost its times of ending."""
    made = store.create("c")
    store.create("d")
    store.set_expiry("c", Expiry(at=2_000_000_000, after_inactive=7))
    store.session.switch("c")
    with store.open("c") as held:
        held.append([user_message("a")])
    with pytest.raises(Conflict):
        store.rename("c", "d")
    assert store.rename("c", "e").id == made.id
    assert store.rename("e", "e").name == "e"
    assert [meta.name for meta in store.list()] == ["d", "e"]
    assert store.expiry("e") == Expiry(at=2_000_000_000, after_inactive=7)
    assert store.session.current() == ("e", "default")
    assert [entry.content for entry in store.read("e").window()[1:]] == ["a"]
    with store.open("e") as held:
        assert held.sequence() == 2


def test_an_archived_conversation_is_read_only_until_it_is_restored(store: Store) -> None:
    store.create("c")
    assert store.archive("c").archived_ms == 1_800_000_000_000
    with store.open("c") as held:
        with pytest.raises(Refused, match="archived"):
            held.append([user_message("x")])
        with pytest.raises(Refused, match="archived"):
            held.write_note("todos", "x")
    assert store.archive("c", archived=False).archived_ms == 0
    with store.open("c") as held:
        held.append([user_message("x")])


def test_a_sweep_destroys_expired_conversations(store: Store, clock: Clock) -> None:
    for name in ("never", "at", "idle", "held"):
        store.create(name)
        with store.open(name) as held:
            held.append([user_message("x")])
    clock.now = max(store.get_meta(name).last_message_ms for name in ("at", "idle")) / 1000
    assert store.expiry("at") == Expiry()
    store.set_expiry("at", Expiry(at=int(clock.now) + 100))
    store.set_expiry("idle", Expiry(after_inactive=50))
    store.set_expiry("held", Expiry(after_inactive=50))
    assert store.expiry("idle") == Expiry(after_inactive=50)
    assert store.sweep() == SweepResult()
    clock.now += 60
    with store.open("held"):
        assert store.sweep() == SweepResult(("idle",))
        clock.now += 60
        assert store.sweep() == SweepResult(("at",))
    clock.now += 40
    assert store.sweep() == SweepResult()
    clock.now += 20
    assert store.sweep() == SweepResult(("held",))
    assert [meta.name for meta in store.list()] == ["never"]


def test_switching_remembers_the_previous_conversation(store: Store) -> None:
    assert store.session.current() == ("default", "")
    assert store.session.switch("a") == ("a", "default")
    assert store.session.switch("a") == ("a", "default")
    assert store.session.switch("b") == store.session.current() == ("b", "a")


def test_leaving_makes_the_previous_conversation_current_if_it_exists(store: Store) -> None:
    store.create("a")
    for name in ("a", "b", "c"):
        store.session.switch(name)
    assert store.session.leave("a") == ("c", "b")
    assert store.session.leave("c") == ("default", "")
    store.session.switch("a")
    store.session.switch("d")
    assert store.session.leave("a") == ("d", "")
    store.session.switch("a")
    store.session.switch("e")
    assert store.session.leave("e") == store.session.current() == ("a", "")


def test_messages_stay_in_the_inbox_until_they_are_removed(store: Store) -> None:
    first = store.inbox.send(InboxMessage(sender="a", to="c", content="é\n1"))
    second = store.inbox.send(InboxMessage(sender="b", to="c", content="2"))
    assert first.id != second.id
    assert store.inbox.peek("c") == (first, second)
    assert first.timestamp == 1_800_000_000
    assert store.inbox.collect("c") == ((first, second), "")
    store.inbox.remove("c", [first])
    assert store.inbox.peek("c") == (second,)
    store.inbox.remove("c", [second._replace(content="other words under its id")])
    assert store.inbox.peek("c") == (second,)
    with store.open("c"):
        store.inbox.send(InboxMessage(sender="a", to="c", content="busy"))
    assert len(store.inbox.peek("c")) == 2
    assert [meta.name for meta in store.list()] == ["c"]


def test_the_role_is_said_and_not_guessed_where_the_conversation_is_called_user(store: Store) -> None:
    """Detail 11: `to == "user"` alone would make every message there the agent's."""
    with store.open("user", create=True) as held:
        held.append([user_message("hi", to="user"), user_message("hello", to="user", sender="user", role=AGENT)])
    roles = [role_of(entry) for entry in store.read("user").window() if entry.entry_type not in ANCHORS]
    assert roles == [USER, AGENT]


def test_calls_stand_before_results_in_call_order(store: Store) -> None:
    """Detail 8: what is appended as one keeps its order and its call ids."""
    kinds = [("tool_call", "1"), ("tool_call", "2"), ("tool_result", "1"), ("tool_result", "2")]
    with store.open("c", create=True) as held:
        held.append([Entry(entry_type=kind, tool_call_id=key) for kind, key in kinds])
    assert [(entry.entry_type, entry.tool_call_id) for entry in store.read("c").window()[1:]] == kinds


def test_destroying_the_current_conversation_makes_the_previous_one_current(store: Store) -> None:
    for name in ("a", "b"):
        store.create(name)
        store.session.switch(name)
    store.destroy("b")
    assert store.session.current() == ("a", "")
    store.session.switch("c")
    store.destroy("a")
    assert store.session.current() == ("c", "")
