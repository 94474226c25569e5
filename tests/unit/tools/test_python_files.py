from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.core.errors import Exhausted
from marid.toolkit.handles import FolderRef
from marid.tools.python_files import MAX_FILE_BYTES, PythonFiles


def folder(root: Path, name: str = ".") -> FolderRef:
    return FolderRef(ToolCaller(root).territory.resolve(name), name)


def test_a_file_is_read_when_it_is_needed_and_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one")
    found = PythonFiles(folder(tmp_path))
    (tmp_path / "a.py").write_text("two")
    assert found["a.py"] == b"two"
    (tmp_path / "a.py").unlink()
    assert found["a.py"] == b"two"
    assert found.skipped == 0


def test_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    (tmp_path / "gone.py").write_text("x")
    found = PythonFiles(folder(tmp_path))
    (tmp_path / "gone.py").unlink()
    assert [found["large.py"], found["gone.py"]] == [b"", b""]
    assert found.skipped == 2


def test_a_tree_that_is_too_large_is_exhausted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * 11)
    with pytest.raises(Exhausted, match="more than 10 bytes: name a smaller folder"):
        PythonFiles(folder(tmp_path), max_bytes=10)["a.py"]
