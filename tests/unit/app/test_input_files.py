import os
from pathlib import Path

import pytest

from fakes.real_app import real_scope
from marid.app.input_files import is_file, read_text_file
from marid.core.errors import BadInput, NotFound


def test_a_text_is_read_from_where_the_person_is(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    (tmp_path / "project" / "a.md").write_text("naïve\n")
    assert read_text_file(scope, "a.md") == read_text_file(scope, str(tmp_path / "project" / "a.md")) == "naïve\n"


def test_a_pipe_is_read_to_its_end_but_not_more_than_is_wanted(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    reader, writer = os.pipe()
    os.write(writer, "naïve\n".encode())
    os.close(writer)
    path = f"/dev/fd/{reader}"
    assert is_file(scope, path)
    assert read_text_file(scope, path) == "naïve\n"
    os.close(reader)
    with pytest.raises(BadInput, match="larger than 10 bytes"):
        read_text_file(scope, "/dev/zero", 10)
    assert read_text_file(scope, "/dev/null") == ""


def test_a_folder_and_what_is_not_there_are_no_files(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    (tmp_path / "project" / "a.md").touch()
    assert [is_file(scope, path) for path in ("a.md", ".", "b.md", "a\0b", "x" * 5000)] == [True] + [False] * 4


def test_what_is_no_text_file_is_told(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    (tmp_path / "image").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NotFound, match="'gone'"):
        read_text_file(scope, "gone")
    for name, why in (("image", "is not UTF-8 text"), ("project", "cannot be read")):
        with pytest.raises(BadInput, match=why):
            read_text_file(scope, str(tmp_path / name))
