"""A conversation that is held."""

import json
import os
from pathlib import Path

import pytest

from fakes.stores import TunedConversations, user_message
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import MESSAGE
from marid.core.conversation.records import Corrupt, StorageSettings
from marid.core.errors import BadInput, Unavailable


@pytest.fixture
def home(tmp_path: Path) -> FileConversations:
    return TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=4))


@pytest.fixture
def active(folder: Path) -> Path:
    return folder / "transcript/active.jsonl"


def test_the_window_on_the_disk_is_the_window(home: FileConversations, tmp_path: Path) -> None:
    """The defect: a rewritten window lost ids, names and times."""
    path = tmp_path / "contexts/c/context.jsonl"
    with home.open("c", create=True) as held:
        stored = held.append([user_message("a"), user_message("b")._replace(extra={"x": 1})])
        assert held.window()[1:] == stored
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert [line["id"] for line in lines[1:]] == [entry.id for entry in stored]
        assert (lines[2]["x"], lines[2]["from"], lines[2]["sequence"]) == (1, "user", 3)
    path.unlink()
    with home.open("c"):
        assert [json.loads(line) for line in path.read_bytes().splitlines()] == lines


def test_an_entry_that_is_no_json_spoils_only_its_own_append(home: FileConversations) -> None:
    with home.open("c", create=True) as held:
        with pytest.raises(BadInput):
            held.append([user_message("a"), user_message("b")._replace(metadata={"x": object()})])
        assert held.sequence() == 1
        assert held.append([user_message("c")])[0].sequence == 2


def test_a_new_partition_that_cannot_be_begun_loses_nothing(home: FileConversations, tmp_path: Path) -> None:
    folder = tmp_path / "contexts/c/transcript"
    with home.open("c", create=True) as held:
        held.append([user_message("a")])
        (folder / "partitions").rmdir()
        (folder / "partitions").write_text("in the way")
        held.append([user_message("b"), user_message("c")])
        assert "could not be started" in held.problems()[0]
        assert len(held.window()) == 4
        with pytest.raises(Unavailable):
            held.append([user_message("d")])
        (folder / "partitions").unlink()
        assert held.append([user_message("d")])[0].sequence == 5
        assert len(os.listdir(folder / "partitions")) == 1
        assert [entry.content for entry in held.window()[1:]] == ["a", "b", "c", "d"]


def test_a_manifest_that_cannot_be_written_loses_nothing(home: FileConversations, tmp_path: Path) -> None:
    manifest = tmp_path / "contexts/c/transcript/manifest.json"
    with home.open("c", create=True) as held:
        manifest.unlink(missing_ok=True)
        manifest.mkdir()
        held.append([user_message("a"), user_message("b"), user_message("c")])
        assert len(held.problems()) == 1
        manifest.rmdir()
        assert held.append([user_message("d")])[0].sequence == 5
        assert [entry.content for entry in held.entries(types=[MESSAGE])] == ["a", "b", "c", "d"]


def test_the_last_time_is_noted_when_it_is_closed(home: FileConversations) -> None:
    with home.open("c", create=True) as held:
        (stored,) = held.append([user_message("a")])
    assert home.read("c").meta().last_message_ms == stored.time_ms


def test_an_edited_system_prompt_is_recorded_at_the_next_opening(home: FileConversations, tmp_path: Path) -> None:
    with home.open("c", create=True) as held:
        held.write_note("system_prompt", "one")
    with home.open("c") as held:
        assert len(list(held.entries(types={"system_prompt_changed"}))) == 1
    path = tmp_path / "contexts/c/system_prompt.md"
    path.write_text("two")
    os.utime(path, (5, 5))
    with home.open("c") as held:
        changes = list(held.entries(types={"system_prompt_changed"}))
        assert [entry.content for entry in changes] == ["one", "two"]
        assert held.meta().extra["system_prompt_md_mtime"] == 5
    home.archive("c")
    os.utime(path, (6, 6))
    with home.open("c") as held:
        assert held.sequence() == changes[-1].sequence


def test_a_partition_has_no_room_behind_its_lines(tmp_path: Path) -> None:
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=20))
    with home.open("c", create=True) as held:
        for number in range(25):
            held.append([user_message(f"m{number}")])
    (partition,) = (tmp_path / "contexts/c/transcript/partitions").iterdir()
    assert partition.read_bytes().endswith(b"}\n")
    rows = json.loads((tmp_path / "contexts/c/transcript/manifest.json").read_bytes())["partitions"]
    assert [row["size"] for row in rows] == [partition.stat().st_size]
    assert (tmp_path / "contexts/c/transcript/active.jsonl").read_bytes().endswith(b"}\n")


def test_after_opening_every_partition_is_listed_and_the_window_is_what_came_since_the_anchor(
    home: FileConversations, tmp_path: Path
) -> None:
    folder = tmp_path / "contexts/c"
    with home.open("c", create=True) as held:
        held.append([user_message(f"m{number}") for number in range(9)])
        held.clear()
        later = [held.append([user_message(f"n{number}")])[0] for number in range(9)]
    (folder / "transcript/manifest.json").unlink()
    (folder / "context.jsonl").write_bytes(b"rubbish\n")
    with home.open("c") as held:
        listed = {row["file"] for row in json.loads((folder / "transcript/manifest.json").read_bytes())["partitions"]}
        assert listed == {f"partitions/{name}" for name in os.listdir(folder / "transcript/partitions")}
        assert len(listed) >= 3
        assert list(held.window()[1:]) == later
        shown = [json.loads(line)["content"] for line in (folder / "context.jsonl").read_bytes().splitlines()]
        assert shown == ["history archived", *(entry.content for entry in later)]


def test_a_lock_that_was_taken_by_force_stops_every_write(home: FileConversations, tmp_path: Path) -> None:
    held = home.open("c", create=True)
    (tmp_path / "contexts/c/.lock").unlink()
    with home.open("c") as other:
        other.append([user_message("theirs")])
        for write in (
            lambda: held.append([user_message("mine")]),
            lambda: held.write_note("todos", "x"),
            lambda: held.update_meta(lambda meta: meta._replace(title="x")),
            lambda: held.find("x"),
        ):
            with pytest.raises(Unavailable, match="taken by another process"):
                write()
    held.close()
    assert [entry.content for entry in home.read("c").entries(types=[MESSAGE])] == ["theirs"]


def test_what_a_crash_cut_off_is_reported(home: FileConversations, active: Path) -> None:
    home.create("c")
    with active.open("ab") as file:
        file.write(b'rubbish\n{"cut')
    with home.open("c") as held:
        told = held.problems()
    assert "line 2 of" in told[0]
    assert "5 bytes of an interrupted write were moved" in told[1]


@pytest.mark.parametrize("many", [1, 20])
def test_entries_go_into_a_file_that_has_replaced_the_old_one(tmp_path: Path, active: Path, many: int) -> None:
    """The defect: what an editor or `sed -i` had replaced was still written to, and answers were lost."""
    home = FileConversations(str(tmp_path))
    with home.open("c", create=True) as held:
        for _ in range(many):
            held.append([user_message("a")])
        (tmp_path / "copy").write_bytes(active.read_bytes().replace(b'"a"', b'"b"'))
        (tmp_path / "copy").rename(active)
        (stored,) = held.append([user_message("c")])
        assert stored.sequence == many + 2
        contents = [*["b"] * many, "c"]
        assert [entry.content for entry in held.window()[1:]] == contents
    assert [entry.content for entry in home.read("c").window()[1:]] == contents


def test_what_another_program_has_appended_meanwhile_stays(tmp_path: Path, active: Path) -> None:
    home = FileConversations(str(tmp_path))
    with home.open("c", create=True) as held:
        held.append([user_message("a")])
        with active.open("ab") as file:
            file.write(b'{"id":"x","content":"theirs","entry_type":"message"}\n')
        assert held.append([user_message("c")])[0].sequence == 4
    assert [entry.content for entry in home.read("c").entries()][1:] == ["a", "theirs", "c"]


@pytest.mark.parametrize("how", ["removed", "emptied", "older"])
def test_entries_that_are_lost_while_a_conversation_is_held_are_told(tmp_path: Path, active: Path, how: str) -> None:
    home = FileConversations(str(tmp_path))
    with home.open("c", create=True) as held:
        older = active.read_bytes()
        held.append([user_message("a")])
        if how == "removed":
            active.unlink()
        else:
            active.write_bytes(older if how == "older" else b"")
        with pytest.raises(Corrupt, match="lost entries"):
            held.append([user_message("b")])
        assert len(active.read_bytes().splitlines()) == (how == "older")
        held.append([user_message("c")])
    assert [entry.content for entry in home.read("c").window()[1:]] == ["c"]


def test_no_tally_is_saved_of_a_file_that_was_changed_meanwhile(tmp_path: Path, active: Path) -> None:
    home = FileConversations(str(tmp_path))
    with home.open("c", create=True) as held:
        held.append([user_message("a")])
        active.write_bytes(active.read_bytes().replace(b'"a"', b'"changed"') + b"rubbish\n")
    with home.open("c") as held:
        assert "line 3" in held.problems()[0]
        assert [entry.content for entry in held.window()[1:]] == ["changed"]
