"""What older programs have left."""

import json
import os
import resource
from pathlib import Path

import pytest

from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import AGENT, ANCHORS, USER
from marid.core.errors import Unavailable

LINE = '{{"id":"{0}","timestamp":{1},"from":"alice","to":"{2}","content":"{0}","entry_type":"{3}","future":1}}\n'


def line(key: str, kind: str = "message", to: str = "c", time: int = 1000) -> str:
    return LINE.format(key, time, to, kind)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "contexts/c"
    folder.mkdir(parents=True)
    return folder


def told(folder: Path) -> tuple[list[str], list[str]]:
    """All ids and those of the window, without anchors that we made; twice, since nothing may change then."""
    results: list[tuple[list[str], list[str]]] = []
    for _ in range(2):
        with FileConversations(str(folder.parents[1])).open("c") as held:
            every = [entry.id for entry in held.entries() if entry.content != "window adopted"]
            results.append((every, [entry.id for entry in held.window() if entry.entry_type not in ANCHORS]))
            assert held.meta().id
    assert results[0] == results[1]
    return results[0]


def test_an_old_transcript_is_moved_and_kept(folder: Path) -> None:
    old = line("m1") + line("m2", to="user").rstrip("\n")
    (folder / "transcript.jsonl").write_text(old)
    assert told(folder) == (["m1", "m2"], ["m1", "m2"])
    assert not (folder / "transcript.jsonl").exists()
    assert (folder / "transcript.jsonl.bak").read_text() == old
    assert json.loads((folder / "context.jsonl").read_text().splitlines()[1])["future"] == 1


def test_the_cut_end_of_an_old_transcript_stays_in_the_backup_only(folder: Path) -> None:
    old = line("m1") + '{"id":"m2","timesta'
    (folder / "transcript.jsonl").write_text(old)
    assert [entry.id for entry in FileConversations(str(folder.parents[1])).read("c").entries()] == ["m1"]
    assert told(folder) == (["m1"], ["m1"])
    assert (folder / "transcript.jsonl.bak").read_text() == old
    with FileConversations(str(folder.parents[1])).open("c") as held:
        assert held.problems() == ()


def test_a_conversation_of_another_program_keeps_the_time_when_it_began(folder: Path, tmp_path: Path) -> None:
    home = FileConversations(str(tmp_path))
    for name, state, entry in (("c", 5, 9), ("d", 9, 5), ("e", 0, 5), ("f", 0, 0)):
        (folder.parent / name / "transcript").mkdir(parents=True)
        home.session.edit_rows(lambda rows: rows.update({name: {"name": name, "created_at": state}}))  # noqa: B023
        text = json.dumps({"id": "m", "entry_type": "message", "timestamp": entry}) + "\n"
        (folder.parent / name / "transcript/active.jsonl").write_text(text if entry else "")
        with home.open(name) as held:
            assert (held.meta().created_ms == 5000) is (name != "f")
            assert held.window()[0].time_ms == held.meta().created_ms
    (folder.parent / "g").mkdir()
    (folder.parent / "g/context.jsonl").write_text(json.dumps({"id": "m", "entry_type": "message", "timestamp": 5}))
    with home.open("g") as held:
        assert held.meta().created_ms == 5000


def test_a_move_that_was_interrupted_is_finished(folder: Path) -> None:
    (folder / "transcript.jsonl").write_text(line("m1"))
    (folder / "transcript.jsonl.bak").touch()
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("m1") + line("m2"))
    assert told(folder) == (["m1", "m2"], ["m1", "m2"])
    assert (folder / "transcript.jsonl.bak2").exists()


def test_an_old_transcript_beside_a_new_one_comes_before_it(folder: Path) -> None:
    (folder / "transcript.jsonl").write_text(line("m1"))
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("m2"))
    assert told(folder) == (["m1", "m2"], ["m1", "m2"])
    assert len(list((folder / "transcript/partitions").glob("*-old.jsonl"))) == 1


def test_an_old_transcript_without_entries_is_put_away(folder: Path) -> None:
    (folder / "transcript.jsonl").write_text("rubbish\n")
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("m2"))
    assert told(folder) == (["m2"], ["m2"])


def test_a_window_that_lies_in_the_transcripts_folder_is_the_transcript(folder: Path) -> None:
    (folder / "transcript").mkdir()
    (folder / "transcript/context.jsonl").write_text(line("m1"))
    assert told(folder) == (["m1"], ["m1"])


def test_messages_that_only_the_window_has_are_taken_over(folder: Path) -> None:
    """The defect: what compaction had kept was in the window alone, and the next rebuild lost it."""
    (folder / "transcript").mkdir()
    transcript = line("m1") + line("m2") + line("anchor", "compaction")
    (folder / "transcript/active.jsonl").write_text(transcript)
    window = line("anchor", "compaction") + line("p", "system_prompt") + line("new-m2") + line("m1")
    (folder / "context.jsonl").write_text(window)
    every, shown = told(folder)
    assert every == ["m1", "m2", "anchor", "new-m2"]
    assert shown == ["new-m2", "m1"]


def test_a_window_that_is_known_to_be_wrong_is_not_believed(folder: Path) -> None:
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("m1"))
    (folder / "context.jsonl").write_text(line("other"))
    (folder / ".dirty").touch()
    assert told(folder) == (["m1"], ["m1"])
    assert not (folder / ".dirty").exists()


def test_a_window_alone_becomes_a_transcript(folder: Path) -> None:
    """Entries without an id get one."""
    (folder / "context.jsonl").write_text(line("m1") + line("").replace('"id":""', '"idx":1'))
    every, shown = told(folder)
    assert shown == every
    assert every[0] == "m1"
    assert every[1].startswith("old-1-")
    assert len(set(every)) == 2


def test_an_old_context_file_becomes_messages(folder: Path) -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi", "id": "given"},
        {"role": "assistant", "content": "hello"},
        {"role": 5, "content": None},
        "odd",
    ]
    old = {"name": "c", "messages": messages, "created_at": 5, "updated_at": 7}
    (folder / "context.json").write_text(json.dumps(old))
    every, shown = told(folder)
    assert every == shown
    assert every[0] == "given"
    assert (folder / "context.json.bak").exists()
    home = FileConversations(str(folder.parents[1]))
    anchor, first, second = home.read("c").window()
    assert anchor.time_ms == 5000
    assert (first.role, second.role, first.time_ms) == (USER, AGENT, 7000)
    assert (second.sender, second.to) == ("c", "user")


@pytest.mark.parametrize("text", ["", "[]", '{"messages": 5}'])
def test_an_old_context_file_that_makes_no_sense_is_put_away(folder: Path, text: str) -> None:
    (folder / "context.json").write_text(text)
    assert told(folder) == ([], [])


def test_a_whole_home_of_another_program_is_read_as_it_is(folder: Path, tmp_path: Path) -> None:
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("anchor", "context_created") + line("m1"))
    (folder / "context.jsonl").write_text(line("anchor", "context_created") + line("m1"))
    (folder / "context_meta.json").write_text('{"created_at": 5, "last_combined_prompt": "p"}')
    (folder / "todos.md").write_text("- x")
    (folder / ".lock").write_text("1700000000")
    (tmp_path / "state.json").write_text('{"contexts":[{"name":"c","created_at":5,"destroy_at":0}]}')
    (tmp_path / "session.json").write_text('{"implied_context":"c","previous_context":"b"}')
    home = FileConversations(str(tmp_path))
    assert [meta.name for meta in home.list()] == ["c"]
    assert home.session.current() == ("c", "b")
    assert home.read("c").read_note("todos") == "- x"
    assert [entry.id for entry in home.read("c").window()] == ["anchor", "m1"]
    assert told(folder) == (["anchor", "m1"], ["m1"])
    meta = json.loads((folder / "context_meta.json").read_bytes())
    assert (meta["last_combined_prompt"], meta["createdAt"]) == ("p", 5000)


def test_a_disk_that_is_full_at_any_moment_loses_nothing_of_a_window(folder: Path) -> None:
    """The defect: the window was written anew before anything that only it had was stored."""
    window = line("anchor", "compaction") + "".join(line(f"new-{number}") for number in range(12)) + line("m1")
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("m1") + line("anchor", "compaction"))
    (folder / "context.jsonl").write_text(window)
    home = FileConversations(str(folder.parents[1]))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    wanted = [*(f"new-{number}" for number in range(12)), "m1"]
    refused = 0
    for limit in range(0, 3000, 100):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            home.open("c").close()
        except Unavailable:
            refused += 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [entry.id for entry in home.read("c").window() if entry.entry_type not in ANCHORS] == wanted
    assert refused > 20
    every, shown = told(folder)
    assert (sorted(every), shown) == (sorted([*wanted, "anchor"]), wanted)


def test_an_old_window_becomes_one_partition_however_long_ago_it_was(folder: Path) -> None:
    (folder / "context.jsonl").write_text("".join(line(f"m{number}") for number in range(200)))
    assert told(folder)[1] == [f"m{number}" for number in range(200)]
    assert len(os.listdir(folder / "transcript/partitions")) == 1


def test_an_old_transcript_comes_first_and_what_is_said_of_later_partitions_survives(folder: Path) -> None:
    (folder / "transcript.jsonl").write_text(line("m1", time=3000))
    (folder / "transcript/partitions").mkdir(parents=True)
    for number in (2, 3):
        (folder / f"transcript/partitions/{number}.jsonl").write_text(line(f"m{number}", time=1000 - number))
    (folder / "transcript/active.jsonl").write_text(line("m4"))
    rows = [{"file": f"partitions/{number}.jsonl", "prompt_count": number} for number in (2, 3)]
    (folder / "transcript/manifest.json").write_text(json.dumps({"version": 1, "zz": 1, "partitions": rows}))
    assert told(folder)[0] == ["m1", "m2", "m3", "m4"]
    whole = json.loads((folder / "transcript/manifest.json").read_bytes())
    assert (whole["zz"], [row.get("prompt_count") for row in whole["partitions"]]) == (1, [None, 2, 3])
