"""Conversations of other programs: reading them writes nothing, and opening adopts them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.stores import file_size_limit
from fakes.trees import plant
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import AGENT, ANCHORS, USER
from marid.core.conversation.records import Conflict, Expiry
from marid.core.errors import NotFound, Unavailable

LINE = '{{"id":"{0}","timestamp":{1},"from":"alice","to":"{2}","content":"text of {0}","entry_type":"{3}","new":1}}\n'


def line(key: str, kind: str = "message", to: str = "c", time: int = 1000) -> str:
    return LINE.format(key, time, to, kind)


def write(folder: Path, **texts: str) -> None:
    """Write files of the conversation: `active` and `stray` are in the transcript's folder."""
    names = {"active": "transcript/active.jsonl", "stray": "transcript/context.jsonl", "window": "context.jsonl"}
    for key, text in texts.items():
        path = folder / names.get(key, f"{key}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


ROWS = [{"file": "partitions/1000-1000.jsonl", "start_ts": 1000, "end_ts": 1000, "entry_count": 1}]
MESSAGES = [{"role": "user", "content": f"text of {key}", "id": key} for key in ("m1", "m2")]
# The same two entries in the forms of other programs.
FORMS = {
    "partitions": {
        "transcript/partitions/1000-1000.jsonl": line("m1"),
        "transcript/manifest.json": json.dumps({"version": 1, "partitions": ROWS}),
        "transcript/active.jsonl": line("m2"),
        "context.jsonl": line("m1") + line("m2"),
    },
    "one file": {"transcript.jsonl": line("m1") + line("m2").rstrip("\n"), "context.jsonl": line("m1") + line("m2")},
    "two files": {"transcript.jsonl": line("m1"), "transcript/active.jsonl": line("m2")},
    "stray": {"transcript/context.jsonl": line("m1") + line("m2")},
    "window": {"context.jsonl": line("m1") + line("m2")},
    "messages": {"context.json": json.dumps({"messages": MESSAGES, "updated_at": 1000})},
}


@pytest.fixture(params=FORMS)
def old(request: pytest.FixtureRequest, folder: Path, home: FileConversations) -> FileConversations:
    """A home with a conversation in one of the forms of another program."""
    plant(folder, {"context_meta.json": '{"created_at": 5}', "todos.md": "- x", **FORMS[request.param]})
    return home


def files(tmp_path: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}


def test_it_is_listed_read_and_searched_and_nothing_is_written(old: FileConversations, tmp_path: Path) -> None:
    before = files(tmp_path)
    (listed,) = old.list()
    assert (listed.id, listed.name, listed.created_ms) == ("", "c", 5000)
    assert old.get_meta("c") == listed
    assert old.holder("c") is None
    assert old.expiry("c") == Expiry()
    read = old.read("c")
    assert [entry.id for entry in read.entries()] == ["m1", "m2"]
    assert [entry.id for entry in read.window() if entry.entry_type not in ANCHORS] == ["m1", "m2"]
    assert read.sequence() == 2
    assert [entry.id for entry in read.entries(after=1)] == ["m2"]
    assert read.read_note("todos") == "- x"
    found = read.find("m1")
    assert found is not None
    assert found.content == "text of m1"
    assert read.find("nothing") is None
    assert [hit.entry.id for hit in old.search("EXT m2")] == ["m2"]
    assert [hit.entry.id for hit in old.search("text", whole=True)] == ["m1", "m2"]
    assert files(tmp_path) == before


def test_it_is_renamed_and_still_whole(old: FileConversations) -> None:
    old.create("taken")
    with pytest.raises(Conflict):
        old.rename("c", "taken")
    assert old.rename("c", "d").name == "d"
    assert [meta.name for meta in old.list()] == ["d", "taken"]
    assert [entry.id for entry in old.read("d").entries()] == ["m1", "m2"]
    with old.open("d") as held:
        assert [entry.id for entry in held.window() if entry.entry_type not in ANCHORS] == ["m1", "m2"]


def test_it_is_archived_and_has_an_id_from_then_on(old: FileConversations) -> None:
    archived = old.archive("c")
    assert archived.archived_ms
    assert archived.id
    assert old.get_meta(archived.id).name == "c"
    assert [entry.id for entry in old.read("c").entries() if entry.entry_type not in ANCHORS] == ["m1", "m2"]


@pytest.mark.parametrize("end", ["destroy", "expire"])
def test_it_is_destroyed(old: FileConversations, end: str) -> None:
    ends: dict[str, Callable[[], object]] = {
        "destroy": lambda: old.destroy("c"),
        "expire": lambda: (old.set_expiry("c", Expiry(at=1)), old.sweep()),
    }
    ends[end]()
    assert old.list() == ()
    with pytest.raises(NotFound):
        old.get_meta("c")


def test_what_only_the_window_has_is_in_the_window_that_is_read(home: FileConversations, folder: Path) -> None:
    """The defect: what compaction had kept was in the window alone."""
    write(folder, active=line("m1") + line("anchor", "compaction"), window=line("anchor", "compaction") + line("m1"))
    assert [entry.id for entry in home.read("c").window()][1:] == ["m1"]
    with home.open("c") as held:
        assert [entry.id for entry in held.window()][1:] == ["m1"]
    assert [entry.id for entry in home.read("c").window()][1:] == ["m1"]


def adopted(folder: Path) -> tuple[list[str], list[str]]:
    """All ids and those of the window, without our anchors; twice, since nothing may change then."""
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
    write(folder, transcript=old)
    assert adopted(folder) == (["m1", "m2"], ["m1", "m2"])
    assert not (folder / "transcript.jsonl").exists()
    assert (folder / "transcript.jsonl.bak").read_text() == old
    assert (folder / "transcript/active.jsonl").read_text().startswith(old)
    assert json.loads((folder / "context.jsonl").read_text().splitlines()[1])["new"] == 1


def test_the_cut_end_of_an_old_transcript_stays_in_the_backup_only(home: FileConversations, folder: Path) -> None:
    old = line("m1") + '{"id":"m2","timesta'
    write(folder, transcript=old)
    assert [entry.id for entry in home.read("c").entries()] == ["m1"]
    assert adopted(folder) == (["m1"], ["m1"])
    assert (folder / "transcript.jsonl.bak").read_text() == old
    with home.open("c") as held:
        assert held.problems() == ()


@pytest.mark.parametrize(
    ("state", "message", "window", "created"), [(5, 9, 0, 5), (9, 5, 0, 5), (0, 5, 0, 5), (0, 0, 5, 5), (0, 0, 0, 0)]
)
def test_the_earliest_time_in_any_file_is_the_creation_time(
    home: FileConversations, folder: Path, state: int, message: int, window: int, created: int
) -> None:
    def entry(time: int) -> str:
        return json.dumps({"id": "m", "entry_type": "message", "timestamp": time}) + "\n" if time else ""

    write(folder, active=entry(message))
    if window:
        write(folder, window=entry(window))
    home.session.edit_rows(lambda rows: rows.update(c={"name": "c", "created_at": state}))
    with home.open("c") as held:
        assert (held.meta().created_ms == 5000) is bool(created)
        assert window or held.window()[0].time_ms == held.meta().created_ms


@pytest.mark.parametrize(
    ("files", "wanted", "left"),
    [
        ({"transcript": line("m1"), "active": line("m1") + line("m2")}, ["m1", "m2"], "transcript.jsonl.bak"),
        ({"transcript": line("m1"), "active": line("m2")}, ["m1", "m2"], "transcript/partitions/*-old.jsonl"),
        pytest.param({"transcript": "rubbish\n", "active": line("m2")}, ["m2"], "transcript.jsonl.bak", id="empty"),
        pytest.param({"stray": line("m1")}, ["m1"], "transcript/active.jsonl", id="a stray window"),
    ],
)
def test_old_files_are_adopted_in_order(folder: Path, files: dict[str, str], wanted: list[str], left: str) -> None:
    write(folder, **files)
    assert adopted(folder) == (wanted, wanted)
    assert len(list(folder.glob(left))) == 1


def test_a_backup_is_not_overwritten(folder: Path) -> None:
    write(folder, transcript=line("m1"))
    (folder / "transcript.jsonl.bak").touch()
    assert adopted(folder) == (["m1"], ["m1"])
    assert (folder / "transcript.jsonl.bak2").exists()


def test_messages_that_only_the_window_has_are_adopted(folder: Path) -> None:
    """The defect: what compaction had kept was in the window alone, and the next rebuild lost it."""
    window = line("anchor", "compaction") + line("p", "system_prompt") + line("new-m2") + line("m1")
    write(folder, active=line("m1") + line("m2") + line("anchor", "compaction"), window=window)
    assert adopted(folder) == (["m1", "m2", "anchor", "new-m2"], ["new-m2", "m1"])


def test_a_window_that_is_marked_as_wrong_is_not_used(folder: Path) -> None:
    write(folder, active=line("m1"), window=line("other"))
    (folder / ".dirty").touch()
    assert adopted(folder) == (["m1"], ["m1"])
    assert not (folder / ".dirty").exists()


def test_a_window_alone_becomes_a_transcript(folder: Path) -> None:
    """Entries without an id get one."""
    write(folder, window=line("m1") + line("").replace('"id":""', '"idx":1'))
    every, shown = adopted(folder)
    assert shown == every
    assert every[0] == "m1"
    assert every[1].startswith("old-1-")
    assert len(set(every)) == 2


def test_an_old_context_file_becomes_messages(home: FileConversations, folder: Path) -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi", "id": "given"},
        {"role": "assistant", "content": "hello"},
        {"role": 5, "content": None},
        "odd",
    ]
    old = {"name": "c", "messages": messages, "created_at": 5, "updated_at": 7}
    folder.mkdir(parents=True)
    (folder / "context.json").write_text(json.dumps(old))
    every, shown = adopted(folder)
    assert every == shown
    assert every[0] == "given"
    assert (folder / "context.json.bak").exists()
    anchor, first, second = home.read("c").window()
    assert anchor.time_ms == 5000
    assert (first.role, second.role, first.time_ms) == (USER, AGENT, 7000)
    assert (second.sender, second.to) == ("c", "user")


@pytest.mark.parametrize("text", ["", "[]", '{"messages": 5}'])
def test_an_old_context_file_that_makes_no_sense_is_put_away(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "context.json").write_text(text)
    assert adopted(folder) == ([], [])


def test_a_whole_home_of_another_program_is_read_as_it_is(
    home: FileConversations, folder: Path, tmp_path: Path
) -> None:
    lines = line("anchor", "context_created") + line("m1")
    write(folder, active=lines, window=lines)
    (folder / "context_meta.json").write_text('{"created_at": 5, "last_combined_prompt": "p"}')
    (folder / "todos.md").write_text("- x")
    (folder / ".lock").write_text("1700000000")
    (tmp_path / "state.json").write_text('{"contexts":[{"name":"c","created_at":5,"destroy_at":0}]}')
    (tmp_path / "session.json").write_text('{"implied_context":"c","previous_context":"b"}')
    assert [meta.name for meta in home.list()] == ["c"]
    assert home.session.current() == ("c", "b")
    assert home.read("c").read_note("todos") == "- x"
    assert [entry.id for entry in home.read("c").window()] == ["anchor", "m1"]
    assert adopted(folder) == (["anchor", "m1"], ["m1"])
    meta = json.loads((folder / "context_meta.json").read_bytes())
    assert (meta["last_combined_prompt"], meta["createdAt"]) == ("p", 5000)


def test_a_disk_that_is_full_at_any_moment_loses_nothing_of_a_window(home: FileConversations, folder: Path) -> None:
    """The defect: the window was written anew before anything that only it had was stored."""
    window = line("anchor", "compaction") + "".join(line(f"new-{number}") for number in range(12)) + line("m1")
    write(folder, active=line("m1") + line("anchor", "compaction"), window=window)
    wanted = [*(f"new-{number}" for number in range(12)), "m1"]
    refused = 0
    for limit in range(0, 3000, 100):
        try:
            with file_size_limit(limit):
                home.open("c").close()
        except Unavailable:
            refused += 1
        assert [entry.id for entry in home.read("c").window() if entry.entry_type not in ANCHORS] == wanted
    assert refused > 20
    every, shown = adopted(folder)
    assert (sorted(every), shown) == (sorted([*wanted, "anchor"]), wanted)


def test_an_old_window_becomes_one_partition_however_long_ago_it_was(folder: Path) -> None:
    write(folder, window="".join(line(f"m{number}") for number in range(200)))
    assert adopted(folder)[1] == [f"m{number}" for number in range(200)]
    assert len(os.listdir(folder / "transcript/partitions")) == 1


def test_an_old_transcript_comes_first_and_what_is_said_of_later_partitions_survives(folder: Path) -> None:
    write(folder, transcript=line("m1", time=3000), active=line("m4"))
    (folder / "transcript/partitions").mkdir()
    for number in (2, 3):
        (folder / f"transcript/partitions/{number}.jsonl").write_text(line(f"m{number}", time=1000 - number))
    rows = [{"file": f"partitions/{number}.jsonl", "prompt_count": number} for number in (2, 3)]
    (folder / "transcript/manifest.json").write_text(json.dumps({"version": 1, "zz": 1, "partitions": rows}))
    assert adopted(folder)[0] == ["m1", "m2", "m3", "m4"]
    whole = json.loads((folder / "transcript/manifest.json").read_bytes())
    assert (whole["zz"], [row.get("prompt_count") for row in whole["partitions"]]) == (1, [None, 2, 3])
