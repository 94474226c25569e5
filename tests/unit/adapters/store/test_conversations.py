"""Conversations as folders."""

import json
import os
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from fakes.stores import Clock, TunedConversations, run_in_threads, run_while, user_message
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.files import file_lock
from marid.core.conversation.records import (
    Conflict,
    ConversationLocked,
    Corrupt,
    Expiry,
    InboxMessage,
    StorageSettings,
    SweepResult,
)
from marid.core.errors import NotFound, Refused, Unavailable


@pytest.mark.parametrize("key", ["01jd3v8m9k2x4c5b6n7q8r9s0t", "8f14e45f-ceea-467f-a9d3-5b1c2d3e4f50"])
def test_a_conversation_keeps_the_id_of_an_earlier_version(home: FileConversations, folder: Path, key: str) -> None:
    home.create("c")
    path = folder / "context_meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "id": key}))
    with home.open(key) as held:
        held.append([user_message()])
        assert held.meta().id == key
    assert home.resolve_name(key) == "c"
    assert home.get_meta("c").id == key


def test_reading_makes_nothing(home: FileConversations, tmp_path: Path) -> None:
    assert home.list() == ()
    for look in (home.get_meta, home.read, home.open):
        with pytest.raises(NotFound):
            look("c")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["link", "file"])
def test_a_link_or_a_file_is_no_conversation(home: FileConversations, tmp_path: Path, name: str) -> None:
    home.create("real")
    (tmp_path / "contexts/link").symlink_to(tmp_path / "contexts/real")
    (tmp_path / "contexts/file").touch()
    for look in (home.get_meta, home.read, home.open, home.destroy):
        with pytest.raises(Refused):
            look(name)
    assert [one.name for one in home.list()] == ["real"]
    for take in (home.create, partial(home.rename, "real")):
        with pytest.raises(Conflict):
            take(name)


def test_of_many_that_create_the_same_name_one_succeeds(home: FileConversations, tmp_path: Path) -> None:
    made: list[str] = []

    def work() -> None:
        with suppress(Conflict):
            made.append(home.create("c").id)

    run_in_threads(*[work] * 6)
    assert made == [home.get_meta("c").id]
    assert os.listdir(tmp_path / "contexts") == ["c"]


def test_a_sweep_removes_what_a_crash_left_of_creating_and_destroying(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    contexts = tmp_path / "contexts"
    for name in (".new-x", ".destroyed-x", ".new-fresh"):
        (contexts / name / "deep").mkdir(parents=True)
    for name in (".new-x", ".destroyed-x"):
        os.utime(contexts / name, (5, 5))
    assert [one.name for one in home.list()] == ["c"]
    home.sweep()
    assert sorted(os.listdir(contexts)) == [".new-fresh", "c"]


def test_a_failed_creation_leaves_nothing(home: FileConversations, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        home.create("c", title=cast("str", object()))
    assert os.listdir(tmp_path / "contexts") == []


def test_a_home_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    home = FileConversations(str(tmp_path / "home"))
    with pytest.raises(Unavailable, match="creating the conversation 'c' failed"):
        home.create("c")
    with pytest.raises(Unavailable, match="reading"):
        home.list()
    with pytest.raises(Unavailable):
        FileConversations("/proc/marid").create("a")


def test_a_search_reports_what_cannot_be_read(home: FileConversations, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with home.open(name, create=True) as held:
            held.append([user_message("word")])
    active = tmp_path / "contexts/a/transcript/active.jsonl"
    active.unlink()
    active.mkdir()
    problems: list[str] = []
    assert [hit.conversation for hit in home.search("word", on_problem=problems.append)] == ["b"]
    assert [problem.partition(" failed")[0] for problem in problems] == ["reading the conversation 'a'"]


def test_a_reader_fails_when_its_conversation_is_gone(tmp_path: Path) -> None:
    """The defect: partitions that were there no more looked empty, so that a search found less than there is."""
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=2))
    with home.open("c", create=True) as held:
        for _ in range(9):
            held.append([user_message("word")])
    problems: list[str] = []
    hits, entries = home.search("word", on_problem=problems.append), home.read("c").entries()
    next(hits)
    next(entries)
    home.rename("c", "d")
    assert len(list(hits)) < 8
    assert problems == ["the conversation 'c' no longer exists"]
    with pytest.raises(NotFound):
        list(entries)
    read = home.read("d").entries()
    next(read)
    for partition in (tmp_path / "contexts/d/transcript/partitions").glob("*.jsonl"):
        partition.unlink()
    with pytest.raises(Unavailable, match="no longer exists"):
        list(read)


def test_rename_and_destroy_work_with_a_damaged_session(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    (tmp_path / "session.json").write_text("{")
    assert home.rename("c", "d").name == "d"
    home.destroy("d")
    assert home.list() == ()


def test_after_a_crash_the_last_time_is_that_of_the_last_entry(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    active = tmp_path / "contexts/c/transcript/active.jsonl"
    os.utime(active, (2**31, 2**31))  # as in a copy
    assert home.get_meta("c").last_message_ms == 0
    with active.open("ab") as file:
        file.write(b'{"id":"x","entry_type":"message","time_ms":1900000000000,"sequence":2}\n')
    assert home.get_meta("c").last_message_ms == 1_900_000_000_000
    shutil.rmtree(tmp_path / "contexts/c/transcript")
    assert home.get_meta("c").last_message_ms == 0


def test_one_that_cannot_be_opened_leaves_no_descriptor(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    (tmp_path / "contexts/c/transcript/manifest.json").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(Unavailable, match="manifest"):
            home.open("c")
    assert len(os.listdir("/proc/self/fd")) == before
    (tmp_path / "contexts/c/transcript/manifest.json").rmdir()
    home.open("c").close()


def test_an_unreadable_conversation_does_not_affect_others(home: FileConversations, tmp_path: Path) -> None:
    """The defect: nothing could be listed, and no conversation be made or be found by its id."""
    made = home.create("a")
    (tmp_path / "contexts/broken/context_meta.json").mkdir(parents=True)
    (tmp_path / "contexts/broken/inbox.jsonl").mkdir()
    assert [(one.name, bool(one.id)) for one in home.list()] == [("a", True), ("broken", False)]
    assert home.get_meta(made.id).name == "a"
    assert home.rename(made.id, "b").name == "b"
    home.open("fresh", create=True).close()
    assert home.inbox.send(InboxMessage(sender="b", to="other", content="x")).to == "other"
    assert home.sweep() == SweepResult()
    assert list(home.search("nothing")) == []
    for look in (home.get_meta, home.open):
        with pytest.raises(Unavailable, match="not a regular file"):
            look("broken")
    home.destroy("broken")
    assert [one.name for one in home.list()] == ["b", "fresh", "other"]


def test_a_conversation_that_changes_meanwhile_is_listed_whole_or_not_at_all(home: FileConversations) -> None:
    for name in "abc":
        home.create(name)

    def change() -> None:
        for number in range(60):
            home.create(f"x{number}")
            home.rename(f"x{number}", f"y{number}")
            home.destroy(f"y{number}")

    def look() -> None:
        assert all(one.id for one in home.list())

    run_while(change, look)


def test_open_with_create_works_while_others_rename_and_destroy(home: FileConversations) -> None:
    """The defect: NotFound, which `create` rules out."""

    def disturb() -> None:
        with suppress(ConversationLocked, NotFound, Conflict):
            home.rename("c", "d")
        with suppress(ConversationLocked, NotFound):
            home.destroy("d")

    def open_often() -> None:
        for _ in range(60):
            with home.open("c", wait=60, create=True) as held:
                assert held.append([user_message()])

    run_while(open_often, disturb, disturb)


def test_a_sweep_keeps_expiries_that_are_set_meanwhile(home: FileConversations) -> None:
    home.create("a")

    def change() -> None:
        for number in range(60):
            home.create(f"x{number}")
            home.set_expiry(f"x{number}", Expiry(at=9_999_999_999))
            home.rename(f"x{number}", f"y{number}")
            assert home.expiry(f"y{number}").at == 9_999_999_999

    run_while(change, home.sweep)
    assert [home.expiry(f"y{number}").at for number in range(60)] == [9_999_999_999] * 60


def test_temporary_files_of_ended_processes_are_removed(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    folder = tmp_path / "contexts/c"
    gone = [".context_meta.json.999999999.0123abcd.tmp", "transcript/.manifest.json.99999999999999999999.0123abcd.tmp"]
    stays = [f".context.jsonl.{os.getpid()}.0123abcd.tmp", "mine.tmp", ".x.1.zzzzzzzz.tmp"]
    for name in (*gone, *stays):
        (folder / name).touch()
    (tmp_path / ".state.json.999999999.0123abcd.tmp").touch()
    home.open("c").close()
    assert [name for name in (*gone, *stays) if (folder / name).exists()] == stays
    home.sweep()
    assert not (tmp_path / ".state.json.999999999.0123abcd.tmp").exists()


def test_a_rename_that_cannot_be_recorded_is_undone(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    home.set_expiry("c", Expiry(at=9_999_999_999))
    (tmp_path / "session.json").write_text('{"implied_context": "c"}')
    (tmp_path / ".state.lock").unlink()
    (tmp_path / ".state.lock").mkdir()
    with pytest.raises(Unavailable):
        home.rename("c", "d")
    assert [one.name for one in home.list()] == ["c"]


@pytest.mark.parametrize(("active", "gone"), [(0, ()), (1, ("c",)), (2_000_000_000, ())])
def test_inactivity_counts_from_the_time_in_the_shared_file(
    home: FileConversations, tmp_path: Path, active: int, gone: tuple[str, ...]
) -> None:
    """The defect: one that nothing is known to have happened in was destroyed, one that was idle for long was not."""
    home.create("c")
    row = {"name": "c", "created_at": 1, "last_activity_at": active, "destroy_after_seconds_inactive": 1}
    (tmp_path / "state.json").write_text(json.dumps({"contexts": [{**row, "destroy_at": 0}]}))
    assert home.sweep() == SweepResult(gone)


def test_opening_and_closing_count_as_activity_once_a_minute_unless_inactivity_ends_it(tmp_path: Path) -> None:
    clock = Clock(1000.0)
    home = FileConversations(str(tmp_path), clock=clock)

    def known() -> object:
        return json.loads((tmp_path / "state.json").read_bytes())["contexts"]

    row = {"name": "c", "created_at": 1000, "destroy_after_seconds_inactive": 0, "destroy_at": 0}
    with home.open("c", create=True):
        assert known() == [{**row, "last_activity_at": 1000}]
        clock.now = 1060.0
    assert known() == [{**row, "last_activity_at": 1060}]
    clock.now = 1119.0
    home.open("c").close()
    assert known() == [{**row, "last_activity_at": 1060}]
    home.set_expiry("c", Expiry(after_inactive=100))
    clock.now = 1120.0
    home.open("c").close()
    assert known() == [{**row, "last_activity_at": 1120, "destroy_after_seconds_inactive": 100}]


def test_with_damaged_metadata_it_is_read_but_not_written(home: FileConversations, tmp_path: Path) -> None:
    """The defect: it was taken for empty and written anew, and what had been put away could be used again."""
    home.create("c")
    home.archive("c")
    card = tmp_path / "contexts/c/context_meta.json"
    half = card.read_bytes()[:40]
    card.write_bytes(half)
    with pytest.raises(Corrupt, match=r"context_meta\.json' is not a JSON object"):
        home.open("c")
    assert card.read_bytes() == half
    assert [one.name for one in home.list()] == ["c"]
    assert home.read("c").window()
    home.destroy("c")
    assert home.list() == ()


def test_after_a_killed_holder_inactivity_counts_from_the_last_entry(home: FileConversations, tmp_path: Path) -> None:
    """The defect: who was killed in a long round lost the conversation, as only opening and closing had been noted."""
    with home.open("c", create=True) as held:
        held.append([user_message()])
    row = {"name": "c", "created_at": 1, "last_activity_at": 5, "destroy_after_seconds_inactive": 60, "destroy_at": 0}
    (tmp_path / "state.json").write_text(json.dumps({"contexts": [row]}))
    lock = tmp_path / "contexts/c/.lock"
    lock.write_text(json.dumps({"token": 7, "pid": 4_000_000, "host": "elsewhere"}))
    assert home.sweep() == SweepResult()
    os.utime(tmp_path / "contexts/c/transcript/active.jsonl", (1000, 1000))
    assert home.sweep() == SweepResult(("c",))


def test_a_conversation_that_is_no_longer_due_is_not_destroyed(home: FileConversations) -> None:
    """The defect: a sweep believed what it had read before somebody else used the conversation."""
    home.open("c", create=True).close()
    assert not home._destroy("c", lambda: False)  # pyright: ignore[reportPrivateUsage]
    assert home.get_meta("c").name == "c"


def test_closing_does_not_wait_for_a_writer_of_the_state(home: FileConversations, tmp_path: Path) -> None:
    """The defect: a process that was stopped while it wrote kept every other from closing."""
    held = home.open("c", create=True)
    home.set_expiry("c", Expiry(after_inactive=100))
    (tmp_path / "state.json").write_text('{"contexts": []}')
    with file_lock(str(tmp_path / ".state.lock")):
        held.close()
    assert json.loads((tmp_path / "state.json").read_bytes()) == {"contexts": []}


def test_a_damaged_state_is_kept_and_reported_by_the_sweep(home: FileConversations, tmp_path: Path) -> None:
    """The defect: closing wrote it anew, and the ends of all others were lost."""
    with home.open("c", create=True):
        (tmp_path / "state.json").write_text('{"contexts": [')
    assert (tmp_path / "state.json").read_text() == '{"contexts": ['
    (tmp_path / "state.json.broken").write_text("an earlier one")
    problem = home.sweep().problem
    assert "was damaged" in problem
    assert (tmp_path / "state.json.broken").read_text() == "an earlier one"
    assert len(list(tmp_path.glob("state.json.*.broken"))) == 1
