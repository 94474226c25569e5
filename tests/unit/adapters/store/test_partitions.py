"""Sealed partitions, and the order that several sources give them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.stores import TunedConversations, user_message
from marid.adapters.store import partition_index, partitions
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.layout import ConversationPaths, HomeLayout
from marid.adapters.store.partition_index import PartitionRow, parse_row
from marid.adapters.store.partitions import SequenceSpan, order_partitions, span_of
from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.conversation.records import StorageSettings

STORAGE = StorageSettings(partition_max_entries=3)


@pytest.fixture
def paths(tmp_path: Path) -> ConversationPaths:
    """Eleven entries: three partitions and two entries."""
    with TunedConversations(str(tmp_path), STORAGE, clock=lambda: 1000.0).open("c", create=True) as held:
        for number in range(2, 12):
            held.append([user_message(f"word{number}", id=f"id{number}")])
    return HomeLayout(str(tmp_path)).paths("c")


def contents(paths: ConversationPaths) -> list[str]:
    home = TunedConversations(paths.home, STORAGE)
    return [entry.content for entry in home.read("c").entries(types=[MESSAGE])]


def listed_rows(paths: ConversationPaths) -> list[PartitionRow]:
    return [parse_row(row) for row in partition_index.load_manifest(paths).rows]


WORDS = [f"word{number}" for number in range(2, 12)]


def test_partitions_of_the_same_second_have_different_names(paths: ConversationPaths) -> None:
    """The defect: the second of one second replaced the first."""
    assert sorted(os.listdir(paths.partitions)) == ["1000-1000-2.jsonl", "1000-1000-3.jsonl", "1000-1000.jsonl"]
    assert contents(paths) == WORDS


def test_the_settings_of_now_decide(paths: ConversationPaths) -> None:
    """The defect: the policy of the first rotation was kept for ever."""
    home = FileConversations(paths.home, clock=lambda: 1000.0)
    with home.open("c", StorageSettings(partition_max_entries=20)) as held:
        held.append([user_message()] * 10)
        assert len(os.listdir(paths.partitions)) == 3
    with home.open("c", StorageSettings(partition_max_entries=5)) as held:
        held.append([user_message()])
        assert len(os.listdir(paths.partitions)) == 4
    assert json.loads(Path(paths.transcript_file("manifest.json")).read_bytes())["rotation_policy"]["max_entries"] == 5


def rewritten(whole: dict[str, Any]) -> None:
    """As by a program that knows neither stamps nor numbers, and has missed the first partition."""
    rows = [{name: row[name] for name in ("file", "start_ts", "end_ts", "entry_count")} for row in whole["partitions"]]
    whole["partitions"] = rows[1:]
    del whole["stamp"], whole["rows_crc"]


# Changes of the manifest alone, as by hand: the folder and its stamp stay as they were.
EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "the last is not listed": lambda whole: whole["partitions"].pop(),
    "the first is not listed": lambda whole: whole["partitions"].pop(0),
    "one in the midst is not listed": lambda whole: whole["partitions"].pop(1),
    "one is listed twice": lambda whole: (whole.update(stamp=0), whole["partitions"].append(whole["partitions"][0])),
    "one more file that is not there": lambda whole: (
        whole.update(stamp=5),
        whole["partitions"].append({**whole["partitions"][0], "file": "partitions/absent.jsonl"}),
    ),
    "another order": lambda whole: whole["partitions"].reverse(),
    "a file that is not there": lambda whole: whole["partitions"][1].update(file="partitions/absent.jsonl"),
    "a file elsewhere": lambda whole: whole["partitions"][0].update(file="../../x"),
    "no file": lambda whole: whole["partitions"][0].update(file=None),
    "another size": lambda whole: (whole.update(stamp=5), whole["partitions"][0].update(size=1)),
    "an anchor where none is": lambda whole: whole["partitions"][2].update(anchor_sequence=8),
    "other numbers": lambda whole: whole["partitions"][0].update(first_sequence=2, last_sequence=9),
    "another checksum": lambda whole: whole.update(rows_crc=5),
    "another version": lambda whole: whole.update(version=9),
    "no stamp and no first row": lambda whole: (whole.pop("stamp"), whole["partitions"].pop(0)),
    "rewritten by another program": rewritten,
    "nothing": lambda whole: whole.clear(),
}


@pytest.mark.parametrize("change", [*EDITS, "removed", "emptied"])
def test_a_manifest_with_any_error_is_built_again(paths: ConversationPaths, change: str) -> None:
    path = Path(paths.transcript_file("manifest.json"))
    before = json.loads(path.read_bytes())
    if change in EDITS:
        whole = json.loads(path.read_bytes())
        EDITS[change](whole)
        path.write_text(json.dumps(whole, indent=2))
    else:
        path.unlink() if change == "removed" else path.write_bytes(b"")
    assert contents(paths) == WORDS
    with TunedConversations(paths.home, STORAGE).open("c") as held:
        assert held.sequence() == 11
        assert [entry.content for entry in held.entries(types=[MESSAGE])] == WORDS
        assert [entry.sequence for entry in held.window()] == list(range(1, 12))
    assert json.loads(path.read_bytes())["partitions"] == before["partitions"]


def test_a_missing_active_file_is_created(paths: ConversationPaths) -> None:
    """As after a crash between the rename and the new file."""
    with TunedConversations(paths.home, STORAGE).open("c") as held:
        held.append([user_message("x")])
    Path(paths.active).unlink()
    assert contents(paths) == [*WORDS, "x"]
    with TunedConversations(paths.home, STORAGE).open("c") as held:
        assert held.append([user_message()])[0].sequence == 13


def test_the_folder_is_read_only_when_its_stamp_has_changed(paths: ConversationPaths) -> None:
    _, right = partitions.survey(paths, STORAGE, 10)
    assert right
    # Whatever leads to a look, what is found to be right need not be written.
    assert partitions.survey(paths, STORAGE, 11)[1]
    os.utime(paths.partitions, ns=(5, 5))
    found, right = partitions.survey(paths, STORAGE, 10)
    assert not right
    assert partitions.save_survey(paths, STORAGE, found).stamp == 5
    assert partitions.survey(paths, STORAGE, 10)[1]
    assert partitions.survey(paths, STORAGE, 0)[1]


@pytest.mark.parametrize("name", [partition_index.IDS_FILE, partition_index.WORDS_FILE])
@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_damaged_filters_hide_nothing_and_are_built_again(paths: ConversationPaths, name: str, damage: str) -> None:
    path = Path(paths.transcript_file(name))
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(whole[:-3])
    else:
        partition_index.rewrite_frames(str(path), {"partitions/nobody.jsonl": partition_index.FilterFrame(1, b"x")})
    read = TunedConversations(paths.home, STORAGE).read("c")
    for number in range(2, 12):
        assert read.find(f"id{number}") is not None
        assert len(list(read.search(f"word{number}", whole_words=True))) == 1
    Path(paths.transcript_file("manifest.json")).unlink()
    TunedConversations(paths.home, STORAGE).open("c").close()
    assert len(partition_index.load_frames(str(path))) == 3


def test_filters_are_not_made_when_they_are_not_wanted(tmp_path: Path) -> None:
    storage = StorageSettings(partition_max_entries=2, enable_bloom_filters=False)
    with TunedConversations(str(tmp_path), storage).open("c", create=True) as held:
        held.append([user_message("word", id="x")])
    folder = tmp_path / "contexts/c/transcript"
    assert not (folder / partition_index.IDS_FILE).exists()
    (folder / "manifest.json").unlink()
    TunedConversations(str(tmp_path), storage).open("c").close()
    assert not (folder / partition_index.WORDS_FILE).exists()
    assert TunedConversations(str(tmp_path), storage).read("c").find("x") is not None


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
    paths = HomeLayout(str(tmp_path)).paths("c")
    # One in which nothing can be read is listed as well.
    assert {row["file"]: row["entry_count"] for row in listed_rows(paths)} == {
        "partitions/30-40.jsonl": 2,
        "partitions/10-20.jsonl": 2,
        "partitions/5-5.jsonl": 0,
    }
    (row,) = [row for row in listed_rows(paths) if row["file"] == "partitions/30-40.jsonl"]
    assert partitions.is_unchanged(paths, row)
    (folder / "30-40.jsonl").unlink()
    assert not partitions.is_unchanged(paths, row)


@pytest.mark.parametrize("lost", ["", "manifest.json"])
def test_a_partition_without_entries_is_listed_and_changes_nothing(paths: ConversationPaths, lost: str) -> None:
    home = TunedConversations(paths.home, STORAGE)
    before = list(home.read("c").entries())
    Path(paths.partitions, "0-0.jsonl").touch()
    if lost:
        Path(paths.transcript_file(lost)).unlink()
    for _ in range(2):
        assert list(home.read("c").entries()) == before
        assert list(home.read("c").entries(after=5)) == before[5:]
        with home.open("c") as held:
            assert list(held.entries()) == before
            assert held.find("id2") is not None
        listed = {row["file"]: row["entry_count"] for row in listed_rows(paths)}
        assert set(listed) == {f"partitions/{name}" for name in os.listdir(paths.partitions)}
        assert listed["partitions/0-0.jsonl"] == 0
        assert partitions.survey(paths, STORAGE, 10)[1]


def test_an_active_file_without_entries_is_not_sealed(paths: ConversationPaths) -> None:
    known, _ = partitions.survey(paths, STORAGE, 0)
    assert partitions.seal(paths, STORAGE, known, b"\n") is known


def hide_the_last(paths: ConversationPaths) -> None:
    """As a crash right after the rename, on a clock too coarse to give the folder another stamp."""
    known = partition_index.load_manifest(paths)
    partition_index.save_manifest(
        paths, known._replace(rows=known.rows[:-1], stamp=partition_index.folder_stamp(paths)), STORAGE
    )


@pytest.mark.parametrize("active", ["empty", "missing", "long"])
def test_no_partition_is_hidden_by_a_clock_that_is_too_coarse(paths: ConversationPaths, active: str) -> None:
    later = "x" * 200_000
    with TunedConversations(paths.home, STORAGE, clock=lambda: 1000.0).open("c") as held:
        held.append([user_message("word12")])
        if active == "long":
            held.append([user_message(later)])
    hide_the_last(paths)
    if active == "missing":
        Path(paths.active).unlink()
    wanted = [*WORDS, "word12", *([later] if active == "long" else [])]
    assert contents(paths) == wanted
    with TunedConversations(paths.home, STORAGE).open("c") as held:
        assert held.sequence() == len(wanted) + 1
        assert [entry.content for entry in held.window()[1:]] == wanted
        assert held.append([user_message("y")])[0].sequence == len(wanted) + 2


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_partition_that_comes_back_has_its_place_and_its_numbers_again(paths: ConversationPaths, number: int) -> None:
    home = TunedConversations(paths.home, STORAGE)
    before = list(home.read("c").entries())
    name = ["1000-1000.jsonl", "1000-1000-2.jsonl", "1000-1000-3.jsonl"][number - 1]
    away = Path(paths.home, "away")
    Path(paths.partitions, name).rename(away)
    with home.open("c") as held:
        left = [entry for entry in before if not 3 * number - 2 <= entry.sequence <= 3 * number]
        assert list(held.entries()) == left
    away.rename(Path(paths.partitions, name))
    assert list(home.read("c").entries()) == before
    with home.open("c") as held:
        assert list(held.entries()) == before
        assert list(held.window()) == before


def test_a_copy_of_a_partition_gives_no_entry_another_number(paths: ConversationPaths) -> None:
    home = TunedConversations(paths.home, STORAGE)
    before = list(home.read("c").entries())[:9]
    Path(paths.partitions, "copy.jsonl").write_bytes(Path(paths.partitions, "1000-1000.jsonl").read_bytes())
    with home.open("c") as held:
        assert list(held.entries())[:9] == before


def test_partitions_that_were_made_without_filters_get_them_when_they_are_wanted(tmp_path: Path) -> None:
    storage = STORAGE._replace(enable_bloom_filters=False)
    for number, wanted in enumerate([False, True, False, True]):
        home = TunedConversations(str(tmp_path), storage._replace(enable_bloom_filters=wanted))
        with home.open("c", create=True) as held:
            held.append([user_message(f"word{number}")] * 3)
    folder = HomeLayout(str(tmp_path)).paths("c")
    listed = {row["file"] for row in listed_rows(folder)}
    assert len(listed) == 4
    for name in (partition_index.IDS_FILE, partition_index.WORDS_FILE):
        assert set(partition_index.load_frames(folder.transcript_file(name))) == listed


@pytest.mark.parametrize("data", [b"", b"\x09" + bytes(7), b"\xff" * 20, bytes(20)])
def test_an_invalid_filter_hides_nothing_and_is_built_again(paths: ConversationPaths, data: bytes) -> None:
    """The defect: rbloom panics, which no `except Exception` catches."""
    row = listed_rows(paths)[0]
    for name in (partition_index.IDS_FILE, partition_index.WORDS_FILE):
        with open(paths.transcript_file(name), "ab") as file:
            file.write(partition_index._encode_frame(row["file"], partition_index.FilterFrame(row["size"], data)))  # pyright: ignore[reportPrivateUsage]
    read = TunedConversations(paths.home, STORAGE).read("c")
    assert read.find("id2") is not None
    assert len(list(read.search("word2", whole_words=True))) == 1
    TunedConversations(paths.home, STORAGE).open("c").close()
    for name in (partition_index.IDS_FILE, partition_index.WORDS_FILE):
        kept = partition_index.load_frames(paths.transcript_file(name))
        assert sum(frame.data != data for frame in kept.values()) == 3
        whole = sum(len(partition_index._encode_frame(*pair)) for pair in kept.items())  # pyright: ignore[reportPrivateUsage]
        assert os.stat(paths.transcript_file(name)).st_size == whole


def test_a_partition_may_have_a_name_that_is_no_text(paths: ConversationPaths) -> None:
    os.rename(os.path.join(paths.partitions, "1000-1000.jsonl"), os.fsencode(paths.partitions) + b"/\xff\xfe.jsonl")
    home = TunedConversations(paths.home, STORAGE)
    for _ in range(2):
        with home.open("c") as held:
            assert [entry.content for entry in held.entries(types=[MESSAGE])] == WORDS
        assert home.read("c").find("id2") is not None


def test_unreadable_lines_are_reported_at_every_opening(paths: ConversationPaths) -> None:
    """The defect: who opened it first was told, and nobody after."""
    for path in (Path(paths.active), Path(paths.partitions, "1000-1000-2.jsonl")):
        path.write_bytes(path.read_bytes() + b"rubbish\n")
    os.utime(paths.partitions, ns=(5, 5))
    for added in ([], [], [user_message()], []):
        with TunedConversations(paths.home, STORAGE).open("c") as held:
            reported = [problem.split("'")[0] for problem in held.problems()]
            assert "1000-1000-2.jsonl" in held.problems()[0]
            held.append(added)
        assert reported == ["line 4 of ", "line 3 of "]


def test_the_fields_of_another_program_survive(tmp_path: Path) -> None:
    folder = tmp_path / "contexts/c/transcript"
    (folder / "partitions").mkdir(parents=True)
    (folder / "partitions/1-2.jsonl").write_text('{"id":"a","timestamp":1,"content":"x","entry_type":"message"}\n')
    theirs = {"file": "partitions/1-2.jsonl", "start_ts": 7, "bloom_file": "partitions/1-2.bloom", "prompt_count": 7}
    (folder / "manifest.json").write_text(json.dumps({"version": 1, "partitions": [theirs]}))
    for _ in range(2):
        FileConversations(str(tmp_path)).open("c").close()
        (row,) = json.loads((folder / "manifest.json").read_bytes())["partitions"]
        assert (row["bloom_file"], row["prompt_count"], row["start_ts"]) == ("partitions/1-2.bloom", 7, 1)
        # One that has changed is read again, and its fields stay all the same.
        with (folder / "partitions/1-2.jsonl").open("a") as file:
            file.write('{"id":"b","timestamp":2,"content":"y","entry_type":"message"}\n')
        os.utime(folder / "partitions", ns=(5, 5))


BARE = b'{"timestamp":7,"content":"x"}\n'


def span(file: str, begin: int = 0, count: int = 2, time_ms: int = 5) -> SequenceSpan:
    return SequenceSpan(begin, begin + count - 1 if begin else 0, time_ms, file, count)


def numbered(*numbers: int) -> bytes:
    return b"".join(encode_line(Entry(entry_type="m", sequence=number, time_ms=9)) for number in numbers)


def test_a_partition_tells_its_numbers_if_it_has_any() -> None:
    assert span_of("f", numbered(4, 5, 9)) == SequenceSpan(4, 9, 9, "f", 3)
    assert span_of("f", BARE * 2) == SequenceSpan(0, 0, 7000, "f", 2)
    assert span_of("f", b"rubbish\n") == SequenceSpan(0, 0, 0, "f", 0)
    # As when another program has begun it: its entries have the numbers before.
    assert span_of("f", BARE * 2 + numbered(8, 9)) == SequenceSpan(6, 9, 7000, "f", 4)


BARE_SPANS = [span("c1", time_ms=4), span("c2", time_ms=5), span("c0", time_ms=1)]
GAP = [span("m2", 4, time_ms=2), span("m3", 6, time_ms=3), *BARE_SPANS]
MIXED = [span("new", 5, time_ms=3), span("newest", 10, time_ms=5), span("mid", time_ms=4, count=3)]
ORDERS: dict[str, tuple[list[SequenceSpan], list[SequenceSpan], str, str]] = {
    "numbers decide, not the list": ([], [span("c", 5), span("a", 1), span("b", 3)], "b c", "a b c"),
    "numbers between known ones": ([span("b", 3)], [span("c", 5), span("a", 1)], "", "a b c"),
    "without numbers as listed, then by time": ([], [span(one, time_ms=ord(one)) for one in "abcd"], "d b", "d b a c"),
    # As in a conversation that another program has begun, and gone on with: its entries had these numbers.
    "without numbers where numbers are missing": (
        *([], [*MIXED, span("old2", time_ms=2), span("old1", time_ms=1)]),
        *("", "old1 old2 new mid newest"),
    ),
    # The defect: where the oldest partition was deleted, the newest ones of another program took its place.
    "no gap that is older": ([], GAP, "", "c0 m2 m3 c1 c2"),
    "listed after a gap": ([], GAP, "m2 m3 c0 c1 c2", "m2 m3 c0 c1 c2"),
    "listed between": ([], GAP, "c2 m2 c1 m3", "c2 c0 m2 c1 m3"),
    "of one time into the gap": ([], [span("a", 1), span("b", 6), span("x", count=3)], "", "a x b"),
    "no gap at all: by time": (
        *([], [span("a", 1, time_ms=1), span("b", 3, time_ms=3), span("x", time_ms=2), span("y", time_ms=9)]),
        *("", "a x b y"),
    ),
    "a copy last, and those without numbers": (
        *([span("a", 1), span("b", 3)], [span("copy", 1), span("z", 5), span("bare", time_ms=1)]),
        *("", "a b z bare copy"),
    ),
    "numbers that overlap last": ([], [span("a", 1), span("b", 3), span("over", 2)], "", "a b over"),
}


@pytest.mark.parametrize(("known", "others", "listed", "wanted"), ORDERS.values(), ids=ORDERS)
def test_partitions_are_ordered(
    known: list[SequenceSpan], others: list[SequenceSpan], listed: str, wanted: str
) -> None:
    assert order_partitions(known, others, dict.fromkeys(listed.split())) == wanted.split()
