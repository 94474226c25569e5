"""Small text files that a person writes."""

import os
from pathlib import Path

import pytest

from marid.workspace.small_text import read_small_text


def test_a_text_is_read_whole_with_its_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("grün\r\n".encode())
    assert read_small_text(str(tmp_path / "a"), 7) == "grün\r\n"


def test_what_is_too_large_no_text_or_no_file_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    (tmp_path / "binary").write_bytes(b"\xff")
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("large", "larger than 4 bytes"), ("binary", "utf-8"), ("pipe", "not a regular file")):
        with pytest.raises(ValueError, match=why):
            read_small_text(str(tmp_path / name), 4)
    with pytest.raises(FileNotFoundError):
        read_small_text(str(tmp_path / "none"), 4)
