"""Conversations of another program, before anybody has opened them: all of it works, and reading writes nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import ANCHORS
from marid.core.conversation.records import Conflict, Expiry
from marid.core.errors import NotFound

LINE = '{{"id":"{0}","timestamp":{1},"from":"alice","to":"c","content":"text of {0}","entry_type":"{2}"}}\n'


def line(key: str, kind: str = "message", time: int = 1000) -> str:
    return LINE.format(key, time, kind)


def partitioned(folder: Path) -> None:
    (folder / "transcript/partitions").mkdir(parents=True)
    (folder / "transcript/partitions/1000-1000.jsonl").write_text(line("m1"))
    rows = [{"file": "partitions/1000-1000.jsonl", "start_ts": 1000, "end_ts": 1000, "entry_count": 1}]
    (folder / "transcript/manifest.json").write_text(json.dumps({"version": 1, "partitions": rows}))
    (folder / "transcript/active.jsonl").write_text(line("m2"))
    (folder / "context.jsonl").write_text(line("m1") + line("m2"))


def one_file(folder: Path) -> None:
    (folder / "transcript.jsonl").write_text(line("m1") + line("m2").rstrip("\n"))
    (folder / "context.jsonl").write_text(line("m1") + line("m2"))


def two_files(folder: Path) -> None:
    (folder / "transcript.jsonl").write_text(line("m1"))
    (folder / "transcript").mkdir()
    (folder / "transcript/active.jsonl").write_text(line("m2"))


def strayed(folder: Path) -> None:
    (folder / "transcript").mkdir()
    (folder / "transcript/context.jsonl").write_text(line("m1") + line("m2"))


def window_alone(folder: Path) -> None:
    (folder / "context.jsonl").write_text(line("m1") + line("m2"))


def messages(folder: Path) -> None:
    said = [{"role": "user", "content": f"text of {key}", "id": key} for key in ("m1", "m2")]
    (folder / "context.json").write_text(json.dumps({"messages": said, "updated_at": 1000}))


@pytest.fixture(params=[partitioned, one_file, two_files, strayed, window_alone, messages])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> FileConversations:
    folder = tmp_path / "contexts/c"
    folder.mkdir(parents=True)
    (folder / "context_meta.json").write_text('{"created_at": 5}')
    (folder / "todos.md").write_text("- x")
    request.param(folder)
    return FileConversations(str(tmp_path))


def files(tmp_path: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}


def test_it_is_listed_looked_at_read_and_searched_and_nothing_is_written(
    home: FileConversations, tmp_path: Path
) -> None:
    before = files(tmp_path)
    (listed,) = home.list()
    assert (listed.id, listed.name, listed.created_ms) == ("", "c", 5000)
    assert home.get_meta("c") == listed
    assert home.holder("c") is None
    assert home.expiry("c") == Expiry()
    read = home.read("c")
    assert [entry.id for entry in read.entries()] == ["m1", "m2"]
    assert [entry.id for entry in read.window() if entry.entry_type not in ANCHORS] == ["m1", "m2"]
    assert read.sequence() == 2
    assert [entry.id for entry in read.entries(after=1)] == ["m2"]
    assert read.read_note("todos") == "- x"
    found = read.find("m1")
    assert found is not None
    assert found.content == "text of m1"
    assert read.find("nothing") is None
    assert [hit.entry.id for hit in home.search("EXT m2")] == ["m2"]
    assert [hit.entry.id for hit in home.search("text", whole=True)] == ["m1", "m2"]
    assert files(tmp_path) == before


def test_it_is_renamed_and_still_whole(home: FileConversations) -> None:
    home.create("taken")
    with pytest.raises(Conflict):
        home.rename("c", "taken")
    assert home.rename("c", "d").name == "d"
    assert [meta.name for meta in home.list()] == ["d", "taken"]
    assert [entry.id for entry in home.read("d").entries()] == ["m1", "m2"]
    with home.open("d") as held:
        assert [entry.id for entry in held.window() if entry.entry_type not in ANCHORS] == ["m1", "m2"]


def test_it_is_archived_and_has_an_id_from_then_on(home: FileConversations) -> None:
    archived = home.archive("c")
    assert archived.archived_ms
    assert archived.id
    assert home.get_meta(archived.id).name == "c"
    assert [entry.id for entry in home.read("c").entries() if entry.entry_type not in ANCHORS] == ["m1", "m2"]


@pytest.mark.parametrize("end", ["destroy", "expire"])
def test_it_is_destroyed(home: FileConversations, end: str) -> None:
    ends: dict[str, Callable[[], object]] = {
        "destroy": lambda: home.destroy("c"),
        "expire": lambda: (home.set_expiry("c", Expiry(at=1)), home.sweep()),
    }
    ends[end]()
    assert home.list() == ()
    with pytest.raises(NotFound):
        home.get_meta("c")


def test_what_only_the_window_has_is_in_the_window_that_is_read(tmp_path: Path) -> None:
    """The defect: what compaction had kept was in the window alone."""
    folder = tmp_path / "contexts/c"
    (folder / "transcript").mkdir(parents=True)
    (folder / "transcript/active.jsonl").write_text(line("m1") + line("anchor", "compaction"))
    (folder / "context.jsonl").write_text(line("anchor", "compaction") + line("m1"))
    home = FileConversations(str(tmp_path))
    shown = [entry.id for entry in home.read("c").window()][1:]
    assert shown == ["m1"]
    with home.open("c") as held:
        assert [entry.id for entry in held.window()][1:] == shown
    assert [entry.id for entry in home.read("c").window()][1:] == shown
