"""The window as a file."""

from pathlib import Path

import pytest

from marid.adapters.store.entries import encode
from marid.adapters.store.layout import Layout, Place
from marid.adapters.store.window import Window
from marid.core.entry import Entry

ENTRIES = [Entry(entry_type="m", content=text, sequence=number) for number, text in enumerate("abc", 1)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Layout(str(tmp_path)).place("c")
    Path(place.folder).mkdir(parents=True)
    return place


def begun(place: Place, entries: list[Entry]) -> Window:
    window = Window(place, entries)
    window.begin()
    return window


def test_until_it_begins_the_file_is_left_alone(place: Place) -> None:
    Path(place.window).write_bytes(b"of another program")
    window = Window(place, ENTRIES[:1])
    window.add([ENTRIES[1]], encode(ENTRIES[1]))
    window.flush()
    window.replace(ENTRIES)
    window.close()
    assert Path(place.window).read_bytes() == b"of another program"
    window.begin()
    assert Path(place.window).read_bytes() == b"".join(map(encode, ENTRIES))


@pytest.mark.parametrize("left", [None, b"", b"rubbish", encode(ENTRIES[1])])
def test_whatever_is_there_it_becomes_what_it_should_be(place: Place, left: bytes | None) -> None:
    if left is not None:
        Path(place.window).write_bytes(left)
    Path(place.file(".dirty")).touch()
    window = begun(place, ENTRIES[:1])
    assert not Path(place.file(".dirty")).exists()
    window.add([ENTRIES[1]], encode(ENTRIES[1]))
    window.add([ENTRIES[2]], encode(ENTRIES[2]))
    window.flush()
    window.flush()
    assert Path(place.window).read_bytes() == b"".join(map(encode, ENTRIES))
    window.replace(ENTRIES[1:])
    assert Path(place.window).read_bytes() == b"".join(map(encode, ENTRIES[1:]))
    window.close()
    inode = Path(place.window).stat().st_ino
    begun(place, ENTRIES[1:])
    assert Path(place.window).stat().st_ino == inode


def test_a_disk_that_refuses_is_no_error_and_is_made_good_later(place: Place) -> None:
    Path(place.window).mkdir()
    window = begun(place, ENTRIES[:1])
    window.add([ENTRIES[1]], encode(ENTRIES[1]))
    assert window.entries == ENTRIES[:2]
    Path(place.window).rmdir()
    window.add([ENTRIES[2]], encode(ENTRIES[2]))
    window.flush()
    assert Path(place.window).read_bytes() == b"".join(map(encode, ENTRIES))
    Path(place.window).unlink()
    Path(place.window).mkdir()
    window.add([ENTRIES[2]], encode(ENTRIES[2]))
    window.flush()
    assert len(window.entries) == 4
    Path(place.window).rmdir()
    window.close()
    assert Path(place.window).read_bytes().count(b"\n") == 4


def test_the_file_follows_before_too_much_waits(place: Place) -> None:
    window = begun(place, [])
    for _ in range(64):
        window.add([ENTRIES[0]], encode(ENTRIES[0]))
    assert Path(place.window).read_bytes() == encode(ENTRIES[0]) * 64
    window.close()
