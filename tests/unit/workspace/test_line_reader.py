"""Some lines of files, also of huge ones."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput, Exhausted, MaridError
from marid.workspace.guard.api import PathScope
from marid.workspace.line_reader import LineReader, LineSpan, open_lines


def span(path: Path, ask: Callable[[LineReader], LineSpan]) -> LineSpan:
    with open_lines(PathScope([str(path.parent)]).resolve(path.name)) as lines:
        return ask(lines)


def sliced(path: Path, start: int, end: int) -> LineSpan:
    return span(path, lambda lines: lines.read_slice(start, end))


def tail(path: Path, count: int) -> LineSpan:
    return span(path, lambda lines: lines.read_tail(count))


LINES = st.lists(st.text("ab\r\u2028é", max_size=3), max_size=8)


@settings(max_examples=60)
@given(lines=LINES, final=st.booleans(), data=st.data())
def test_a_slice_and_a_tail_are_those_of_a_list(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], final: bool, data: st.DataObject
) -> None:
    text = "\n".join(lines) + ("\n" if final and lines else "")
    have = text.split("\n")
    have = [line + "\n" for line in have[:-1]] + ([have[-1]] if have[-1] else [])
    path = tmp_path_factory.mktemp("spans") / "a.txt"
    path.write_bytes(text.encode())
    count = data.draw(st.integers(1, 9))
    total = len(have)
    assert tail(path, count) == LineSpan("".join(have[-count:]), min(total, max(1, total - count + 1)), total, total)
    if total:
        start = data.draw(st.integers(1, total))
        end = data.draw(st.integers(start, total + 2))
        assert sliced(path, start, end) == LineSpan("".join(have[start - 1 : end]), start, min(end, total), total)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert sliced(tmp_path / "a", 1, 5) == LineSpan("", 0, 0, 0)
    assert tail(tmp_path / "a", 5) == LineSpan("", 0, 0, 0)
    with pytest.raises(BadInput, match="the file is empty"):
        sliced(tmp_path / "a", 2, 5)


def test_lines_that_cross_what_is_read_at_once_are_whole(tmp_path: Path) -> None:
    lines = [f"{number:07d}" + "x" * 93 for number in range(30_000)]
    (tmp_path / "a").write_text("\n".join(lines))
    for at in (1, 10_381, 10_382, 20_763, 29_990):
        assert sliced(tmp_path / "a", at, at + 3).text == "".join(line + "\n" for line in lines[at - 1 : at + 3])
    assert tail(tmp_path / "a", 2_000).text == "\n".join(lines[-2_000:])
    assert sliced(tmp_path / "a", 1, 30_000).text == "\n".join(lines)


def test_wide_encodings_and_marks_are_decoded(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("one\nਊĊ\nthree".encode("utf-16"))
    assert sliced(tmp_path / "a", 2, 2).text == "ਊĊ\n"
    assert tail(tmp_path / "a", 1).text == "three"
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    assert sliced(tmp_path / "a", 1, 1).text == "one\n"
    assert tail(tmp_path / "a", 5).text == "one\ntwo\n"


def sparse(path: Path, size: int, *pieces: tuple[int, bytes]) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
        for at, data in pieces:
            file.seek(at)
            file.write(data)
    return path


def test_a_huge_file_of_nothing_is_binary_and_refused_at_once(tmp_path: Path) -> None:
    path = sparse(tmp_path / "a", 1 << 40)
    for ask in (lambda: sliced(path, 1, 5), lambda: tail(path, 5)):
        with pytest.raises(BadInput, match=r"binary file of 1099\.5 GB"):
            ask()


def test_the_ends_of_a_huge_file_are_read_without_the_rest(tmp_path: Path) -> None:
    head, end = b"".join(b"head %d\n" % n for n in range(2_000)), b"".join(b"tail %d\n" % n for n in range(20_000))
    size = 1 << 40
    path = sparse(tmp_path / "a", size, (0, head), (size - len(end), end))
    assert sliced(path, 2, 3) == LineSpan("head 1\nhead 2\n", 2, 3, None)
    assert tail(path, 2) == LineSpan("tail 19998\ntail 19999\n", None, None, None)


def test_lines_that_hold_too_much_are_refused(tmp_path: Path) -> None:
    path = sparse(tmp_path / "a", 1 << 30, (0, b"x" * 9_000))
    for ask in (lambda: sliced(path, 1, 1), lambda: tail(path, 1)):
        with pytest.raises(Exhausted, match=r"larger than 16\.8 MB"):
            ask()


def test_lines_of_nothing_in_a_text_are_refused(tmp_path: Path) -> None:
    path = sparse(tmp_path / "a", 20_000, (0, b"x\n" * 5_000))
    with pytest.raises(BadInput, match="binary data"):
        sliced(path, 5_001, 5_001)


def test_a_line_that_is_too_far_away_is_refused(tmp_path: Path) -> None:
    path = sparse(tmp_path / "a", 1 << 40, (0, b"x\n" * 5_000))
    fd = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(Exhausted, match="is not within the first"):
            LineReader(fd, 1 << 40, max_scanned=4 << 20).read_slice(9_000, 9_001)
    finally:
        os.close(fd)


@pytest.mark.parametrize(("data", "size"), [(b"\xff\xfe\x00", 3), (b"\xff\xfea\x00", 1 << 30)], ids=["broken", "large"])
def test_wide_text_that_is_broken_or_large_is_refused(tmp_path: Path, data: bytes, size: int) -> None:
    path = sparse(tmp_path / "a", size, (0, data))
    with pytest.raises((BadInput, Exhausted)):
        sliced(path, 1, 1)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe", "missing"):
        with pytest.raises(MaridError):
            sliced(tmp_path / name, 1, 1)
