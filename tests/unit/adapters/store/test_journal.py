"""A file that only grows, by whole lines."""

import os
from pathlib import Path

import pytest

from marid.adapters.store.entries import encode, lines
from marid.adapters.store.journal import Journal, repair, whole
from marid.core.conversation import Corrupt
from marid.core.entry import Entry

FIRST = encode(Entry(entry_type="m", id="first", sequence=1))
GROUP = b"".join(encode(Entry(entry_type="m", id=f"g{left}", sequence=4 - left), left) for left in (2, 1, 0))


def repaired(path: Path) -> tuple[int, int]:
    fd = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        return repair(fd, str(path))
    finally:
        os.close(fd)


@pytest.mark.parametrize("before", [b"", FIRST + GROUP])
def test_every_cut_of_a_group_takes_back_the_whole_group(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "j"
    for cut in range(len(GROUP)):
        path.write_bytes(before + GROUP[:cut])
        size, torn = repaired(path)
        if cut == len(GROUP) - 1:
            assert path.read_bytes() == before + GROUP
        else:
            assert (size, torn) in {(len(before), cut), (len(before), cut + 1)}
            assert path.read_bytes() == before
        assert whole(before + GROUP[:cut]) == before
    assert whole(before + GROUP) == before + GROUP


def test_what_is_cut_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(FIRST + b'{"id":"cu')
    journal = Journal(str(path))
    assert (journal.size, journal.torn) == (len(FIRST), 9)
    journal.append(GROUP)
    assert path.read_bytes() == FIRST + GROUP
    assert (tmp_path / "j.torn").read_bytes() == b'{"id":"cu\n'
    journal.close()


def test_a_cut_longer_than_a_piece_is_found(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(FIRST + b'{"x":"' + b"y" * 200_000)
    assert repaired(path) == (len(FIRST), 200_006)
    path.write_bytes(b"y" * 200_000)
    assert repaired(path) == (0, 200_000)


def test_a_reader_of_odd_groups_stops_in_time() -> None:
    odd = b'{"more":3}\n{"more":1}\n'
    assert whole(odd) == b'{"more":3}\n'
    assert whole(b"") == b""
    assert whole(b'x"more"\n') == b'x"more"\n'


def test_a_write_that_fails_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    path = tmp_path / "j"
    journal = Journal(str(path))
    journal.append(FIRST)
    # A descriptor that cannot be written stands for a disk that refuses.
    os.close(journal._fd)  # pyright: ignore[reportPrivateUsage]
    journal._fd = os.open(path, os.O_RDONLY)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(OSError, match="descriptor"):
        journal.append(GROUP)
    with path.open("ab") as file:
        file.write(b"left by the failure")
    journal.append(GROUP)
    assert path.read_bytes() == FIRST + GROUP
    assert journal.read() == FIRST + GROUP
    assert len(list(lines(journal.read(len(FIRST))))) == 3
    journal.close()


def test_a_file_that_became_shorter_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "j"
    journal = Journal(str(path))
    journal.append(FIRST)
    journal.close()
    path.write_bytes(b"")
    with pytest.raises(Corrupt, match="shorter"):
        journal.append(GROUP)
    assert path.read_bytes() == b""


def test_a_repair_does_not_need_room_for_what_it_puts_aside(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(FIRST + b"cut")
    (tmp_path / "j.torn").mkdir()
    assert repaired(path) == (len(FIRST), 3)


def test_reading_ends_where_the_file_ends(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "j"))
    journal.append(FIRST)
    os.truncate(tmp_path / "j", 5)
    assert journal.read() == FIRST[:5]
    journal.close()


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "j").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        Journal(str(tmp_path / "j")).append(FIRST)
    assert not (tmp_path / "other").exists()
