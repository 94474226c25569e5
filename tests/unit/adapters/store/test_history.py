"""What is read from a transcript as it stands."""

from pathlib import Path

from marid.adapters.store import history
from marid.adapters.store.catalogue import FileConversations
from marid.adapters.store.layout import Layout
from marid.core.conversation import Storage
from marid.core.entry import COMPACTION, MESSAGE, Entry

STORAGE = Storage(partition_max_entries=4)


def test_a_search_by_id_reads_only_partitions_whose_filter_knows_it(tmp_path: Path) -> None:
    with FileConversations(str(tmp_path), STORAGE).open("c", create=True) as held:
        for number in range(40):
            held.append([Entry(entry_type=MESSAGE, id=f"id{number}", content=f"word{number}")])
    place = Layout(str(tmp_path)).place("c")
    whole = history.take(place, STORAGE)
    rows = list(history._candidates(whole, "ids.blooms", {"id7"}))  # pyright: ignore[reportPrivateUsage]
    assert len(rows) <= 2
    rows = list(history._candidates(whole, "words.blooms", {"nowhere"}))  # pyright: ignore[reportPrivateUsage]
    assert len(rows) <= 1
    found = history.find(whole, "id7")
    assert found is not None
    assert found.content == "word7"


def test_what_an_anchor_kept_is_found_wherever_it_is(tmp_path: Path) -> None:
    with FileConversations(str(tmp_path), STORAGE).open("c", create=True) as held:
        for number in range(10):
            held.append([Entry(entry_type=MESSAGE, id=f"id{number}")])
        # As another program might write it: without saying since when, and with ids that are nowhere.
        held.append([Entry(entry_type=COMPACTION, id="a", metadata={"kept": ["id8", "gone", 5, "id1"]})])
        wanted = ["a", "id8", "id1", "n"]
        held.append([Entry(entry_type=MESSAGE, id="n")])
        assert [entry.id for entry in held.window()] == wanted
    read = FileConversations(str(tmp_path), STORAGE).read("c")
    assert [entry.id for entry in read.window()] == wanted
    with FileConversations(str(tmp_path), STORAGE).open("c") as held:
        assert [entry.id for entry in held.window()] == wanted
        held.append([Entry(entry_type=COMPACTION, id="b", metadata={"kept": "odd"})])
        assert [entry.id for entry in held.window()] == ["b"]


def test_the_last_anchor_may_be_in_a_partition(tmp_path: Path) -> None:
    home = FileConversations(str(tmp_path), STORAGE)
    with home.open("c", create=True) as held:
        held.append([Entry(entry_type=MESSAGE, id="x")])
        held.anchor(Entry(entry_type=COMPACTION, id="a"), ["x"])
        for number in range(9):
            held.append([Entry(entry_type=MESSAGE, id=f"id{number}")])
        wanted = ["a", "x", *(f"id{number}" for number in range(9))]
        assert [entry.id for entry in held.window()] == wanted
    assert [entry.id for entry in home.read("c").window()] == wanted
    with home.open("c") as held:
        assert [entry.id for entry in held.window()] == wanted


def test_a_conversation_without_files_is_empty(tmp_path: Path) -> None:
    (tmp_path / "contexts/c").mkdir(parents=True)
    place = Layout(str(tmp_path)).place("c")
    whole = history.take(place, STORAGE)
    assert history.last(whole) == 0
    assert history.window(whole) == []
    assert history.find(whole, "x") is None
    assert history.first_number(b"") == 1
