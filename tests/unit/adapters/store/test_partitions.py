"""Full partitions."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from marid.adapters.store import blooms, manifest, partitions
from marid.adapters.store.catalogue import FileConversations
from marid.adapters.store.layout import Layout, Place
from marid.core.conversation import Storage
from marid.core.entry import MESSAGE, Entry

STORAGE = Storage(partition_max_entries=3)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Eleven entries: three partitions and two entries."""
    with FileConversations(str(tmp_path), STORAGE, clock=lambda: 1000.0).open("c", create=True) as held:
        for number in range(2, 12):
            held.append([Entry(entry_type=MESSAGE, content=f"word{number}", id=f"id{number}")])
    return Layout(str(tmp_path)).place("c")


def contents(place: Place) -> list[str]:
    home = FileConversations(place.home, STORAGE)
    return [entry.content for entry in home.read("c").entries(types=[MESSAGE])]


WORDS = [f"word{number}" for number in range(2, 12)]


def test_partitions_of_the_same_second_have_different_names(place: Place) -> None:
    """The defect: the second of one second replaced the first."""
    assert sorted(os.listdir(place.partitions)) == ["1000-1000-2.jsonl", "1000-1000-3.jsonl", "1000-1000.jsonl"]
    assert contents(place) == WORDS


def test_the_settings_of_now_decide(place: Place) -> None:
    """The defect: the policy of the first rotation was kept for ever."""
    with FileConversations(place.home, Storage(partition_max_entries=20), clock=lambda: 1000.0).open("c") as held:
        held.append([Entry(entry_type=MESSAGE, content="x")] * 10)
        assert len(os.listdir(place.partitions)) == 3
    with FileConversations(place.home, Storage(partition_max_entries=5), clock=lambda: 1000.0).open("c") as held:
        held.append([Entry(entry_type=MESSAGE, content="x")])
        assert len(os.listdir(place.partitions)) == 4
    assert json.loads(Path(place.transcript("manifest.json")).read_bytes())["rotation_policy"]["max_entries"] == 5


def unlist(place: Place) -> None:
    path = Path(place.transcript("manifest.json"))
    whole = json.loads(path.read_bytes())
    whole["partitions"].pop()
    path.write_text(json.dumps(whole))


def unlist_and_hide(place: Place) -> None:
    """As a crash after the rename, on a clock too coarse to show it."""
    unlist(place)


def list_absent(place: Place) -> None:
    path = Path(place.transcript("manifest.json"))
    whole = json.loads(path.read_bytes())
    whole["partitions"].append({**whole["partitions"][0], "file": "partitions/absent.jsonl"})
    path.write_text(json.dumps(whole | {"stamp": 5}))


def overlap(place: Place) -> None:
    path = Path(place.transcript("manifest.json"))
    whole = json.loads(path.read_bytes())
    whole["partitions"] += whole["partitions"][:1]
    path.write_text(json.dumps(whole | {"version": 1, "stamp": 0}))


def without(place: Place) -> None:
    Path(place.transcript("manifest.json")).unlink()


def emptied(place: Place) -> None:
    Path(place.transcript("manifest.json")).write_bytes(b"")


def newer(place: Place) -> None:
    path = Path(place.transcript("manifest.json"))
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"version": 9}))


def resized(place: Place) -> None:
    path = Path(place.transcript("manifest.json"))
    whole = json.loads(path.read_bytes())
    whole["partitions"][0]["size"] += 1
    path.write_text(json.dumps(whole | {"stamp": 5}))


def active_gone(place: Place) -> None:
    """As a crash between the rename and the new file."""
    with FileConversations(place.home, STORAGE).open("c") as held:
        held.append([Entry(entry_type=MESSAGE, content="x")])
    Path(place.active).unlink()


@pytest.mark.parametrize("fault", [unlist_and_hide, list_absent, overlap, without, emptied, newer, resized])
def test_whatever_is_wrong_with_the_manifest_it_is_made_anew(place: Place, fault: Callable[[Place], None]) -> None:
    before = Path(place.transcript("manifest.json")).read_bytes()
    fault(place)
    assert contents(place) == WORDS
    with FileConversations(place.home, STORAGE).open("c") as held:
        assert held.sequence() == 11
        assert [entry.content for entry in held.entries(types=[MESSAGE])] == WORDS
    rows = json.loads(Path(place.transcript("manifest.json")).read_bytes())["partitions"]
    assert rows == json.loads(before)["partitions"]


def test_a_missing_active_file_is_made(place: Place) -> None:
    active_gone(place)
    assert contents(place) == [*WORDS, "x"]
    with FileConversations(place.home, STORAGE).open("c") as held:
        assert held.append([Entry(entry_type=MESSAGE)])[0].sequence == 13


def test_the_folder_is_looked_through_only_when_its_stamp_has_changed(place: Place) -> None:
    _, right = partitions.survey(place, STORAGE)
    assert right
    _, right = partitions.survey(place, STORAGE, 11)
    assert not right
    os.utime(place.partitions, ns=(5, 5))
    found, right = partitions.survey(place, STORAGE)
    assert not right
    assert partitions.settle(place, STORAGE, found).stamp == 5
    assert partitions.survey(place, STORAGE)[1]


@pytest.mark.parametrize("name", [blooms.IDS, blooms.WORDS])
@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_filters_that_are_damaged_hide_nothing_and_are_made_anew(place: Place, name: str, damage: str) -> None:
    path = Path(place.transcript(name))
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(whole[:-3])
    else:
        blooms.rewrite(str(path), {"partitions/nobody.jsonl": blooms.Frame(1, b"x")})
    read = FileConversations(place.home, STORAGE).read("c")
    for number in range(2, 12):
        assert read.find(f"id{number}") is not None
        assert len(list(read.search(f"word{number}", whole=True))) == 1
    Path(place.transcript("manifest.json")).unlink()
    FileConversations(place.home, STORAGE).open("c").close()
    assert len(blooms.load(str(path))) == 3


def test_filters_are_not_made_when_they_are_not_wanted(tmp_path: Path) -> None:
    storage = Storage(partition_max_entries=2, enable_bloom_filters=False)
    with FileConversations(str(tmp_path), storage).open("c", create=True) as held:
        held.append([Entry(entry_type=MESSAGE, content="word", id="x")])
    folder = tmp_path / "contexts/c/transcript"
    assert not (folder / blooms.IDS).exists()
    (folder / "manifest.json").unlink()
    FileConversations(str(tmp_path), storage).open("c").close()
    assert not (folder / blooms.WORDS).exists()
    assert FileConversations(str(tmp_path), storage).read("c").find("x") is not None


def test_partitions_of_others_are_read_in_their_order_and_numbered(tmp_path: Path) -> None:
    folder = tmp_path / "contexts/c/transcript/partitions"
    folder.mkdir(parents=True)
    line = '{{"id":"{0}","timestamp":{1},"from":"user","to":"c","content":"{0}","entry_type":"message"}}\n'
    (folder / "30-40.jsonl").write_text(line.format("c", 30) + "rubbish\n" + line.format("d", 40))
    (folder / "10-20.jsonl").write_text(line.format("a", 10) + line.format("b", 20))
    (folder / "5-5.jsonl").write_text("rubbish\n")
    (folder / "30-40.bloom").write_text('{"not": "ours"}')
    (folder.parent / "active.jsonl").write_text(line.format("e", 50))
    rows = [{"file": "partitions/30-40.jsonl"}, {"file": "partitions/10-20.jsonl"}]
    home = FileConversations(str(tmp_path))
    assert [entry.id for entry in home.read("c").entries()] == ["a", "b", "c", "d", "e"]
    (folder.parent / "manifest.json").write_text(json.dumps({"version": 1, "partitions": rows}))
    wanted = [("c", 1), ("d", 2), ("a", 3), ("b", 4), ("e", 5)]
    assert [(entry.id, entry.sequence) for entry in home.read("c").entries()] == wanted
    with home.open("c") as held:
        assert [(entry.id, entry.sequence) for entry in held.entries()] == wanted
    place = Layout(str(tmp_path)).place("c")
    assert len(manifest.load(place).rows) == 2
    assert partitions.unchanged(place, manifest.load(place).rows[0])
    (folder / "30-40.jsonl").unlink()
    assert not partitions.unchanged(place, manifest.load(place).rows[0])


def test_an_active_file_without_entries_is_not_sealed(place: Place) -> None:
    known, _ = partitions.survey(place, STORAGE)
    assert partitions.seal(place, STORAGE, known, b"\n") is known
