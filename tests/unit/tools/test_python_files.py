from pathlib import Path

import pytest

from fakes.hands import Hands
from marid.core.errors import Exhausted, NotFound
from marid.toolkit.handles import FolderRef
from marid.tools.python_files import MAX_FILE_BYTES, PythonFiles


def folder(root: Path, name: str = ".") -> FolderRef:
    return FolderRef(Hands(root).territory.resolve(name), name)


def test_python_files_are_told_by_their_path_from_the_root(tmp_path: Path) -> None:
    for name in ("a.py", "b.txt", "sub/c.PY", "sub/deep/d.pyi", "sub/e.pyw"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert sorted(PythonFiles(folder(tmp_path))) == ["a.py", "sub/c.PY", "sub/deep/d.pyi", "sub/e.pyw"]
    found = PythonFiles(folder(tmp_path, "sub"))
    assert found["sub/c.PY"] == b"sub/c.PY"
    assert (len(found), "a.py" in found, found.skipped) == (3, False, 0)
    with pytest.raises(KeyError):
        found["a.py"]


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


def test_a_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        PythonFiles(folder(tmp_path, "none"))
