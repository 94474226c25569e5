"""The window as a file."""

import subprocess
import sys
from pathlib import Path

import pytest

from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.window_file import WindowFile
from marid.core.conversation.entry import Entry

ENTRIES = [Entry(entry_type="m", content=text, sequence=number) for number, text in enumerate("abc", 1)]


def begun(paths: ConversationPaths, entries: list[Entry]) -> WindowFile:
    window = WindowFile(paths, entries)
    window.start()
    return window


def test_until_it_begins_the_file_is_left_alone(paths: ConversationPaths) -> None:
    Path(paths.window).write_bytes(b"of another program")
    window = WindowFile(paths, ENTRIES[:1])
    window.add([ENTRIES[1]], encode_line(ENTRIES[1]))
    window.flush()
    window.replace(ENTRIES)
    window.close()
    assert Path(paths.window).read_bytes() == b"of another program"
    window.start()
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES))


@pytest.mark.parametrize("left", [None, b"", b"rubbish", encode_line(ENTRIES[1])])
def test_whatever_is_there_it_becomes_what_it_should_be(paths: ConversationPaths, left: bytes | None) -> None:
    if left is not None:
        Path(paths.window).write_bytes(left)
    Path(paths.file(".dirty")).touch()
    window = begun(paths, ENTRIES[:1])
    assert not Path(paths.file(".dirty")).exists()
    window.add([ENTRIES[1]], encode_line(ENTRIES[1]))
    window.add([ENTRIES[2]], encode_line(ENTRIES[2]))
    window.flush()
    window.flush()
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES))
    window.replace(ENTRIES[1:])
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES[1:]))
    window.close()
    inode = Path(paths.window).stat().st_ino
    begun(paths, ENTRIES[1:])
    assert Path(paths.window).stat().st_ino == inode


def test_a_disk_that_refuses_is_no_error_and_is_made_good_later(paths: ConversationPaths) -> None:
    Path(paths.window).mkdir()
    window = begun(paths, ENTRIES[:1])
    window.add([ENTRIES[1]], encode_line(ENTRIES[1]))
    assert window.entries == ENTRIES[:2]
    Path(paths.window).rmdir()
    window.add([ENTRIES[2]], encode_line(ENTRIES[2]))
    window.flush()
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES))
    Path(paths.window).unlink()
    Path(paths.window).mkdir()
    window.add([ENTRIES[2]], encode_line(ENTRIES[2]))
    window.flush()
    assert len(window.entries) == 4
    Path(paths.window).rmdir()
    window.close()
    assert Path(paths.window).read_bytes().count(b"\n") == 4


FULL = """
import resource, signal, sys
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.layout import HomeLayout
from marid.adapters.store.window_file import WindowFile
from marid.core.conversation.entry import Entry
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
paths = HomeLayout(sys.argv[1]).paths("c")
window = WindowFile(paths, [Entry(entry_type="m", content="a")])
window.start()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
large = Entry(entry_type="m", content="b" * 1000)
window.add([large], encode_line(large))
window.close()
WindowFile(paths, window.entries).start()
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
"""


def test_a_disk_that_fills_leaves_no_part_of_a_line(paths: ConversationPaths) -> None:
    """The defect: the line that did not fit was cut, and stayed so while nothing could be put in its paths."""
    home = Path(paths.folder).parents[1]
    subprocess.run([sys.executable, "-c", FULL, str(home)], check=True, timeout=60)
    assert Path(paths.window).read_bytes() == encode_line(Entry(entry_type="m", content="a"))


def test_the_file_follows_before_too_much_waits(paths: ConversationPaths) -> None:
    window = begun(paths, [])
    for _ in range(64):
        window.add([ENTRIES[0]], encode_line(ENTRIES[0]))
    assert Path(paths.window).read_bytes() == encode_line(ENTRIES[0]) * 64
    window.close()
