from pathlib import Path

from fakes.trees import plant
from marid.assembly.content_cache import ContentCache
from marid.assembly.selection import resolve_targets, select_files
from marid.workspace.read import FileReader
from marid.workspace.walk import Folder, SelectionRules

FOLDERS = [Folder("", ["a", "b"]), Folder("src", ["c"]), Folder("src/x", ["d"])]


def known(memory: ContentCache, top: Path) -> dict[str, bytes]:
    reader = FileReader(str(top), lambda _path, _reason: None)
    return {content.path: content.data for content in memory.read(reader, FOLDERS)}


def tree(top: Path, text: str) -> None:
    plant(top, dict.fromkeys(("a", "b", "src/c", "src/x/d"), text))


def test_what_was_read_is_read_again_only_if_it_or_its_folder_changed(tmp_path: Path) -> None:
    tree(tmp_path, "old")
    memory = ContentCache()
    first = known(memory, tmp_path)
    tree(tmp_path, "new")
    assert known(memory, tmp_path) == first == dict.fromkeys(("a", "b", "src/c", "src/x/d"), b"old")
    memory.invalidate({"src/c"}, walk=False)
    assert known(memory, tmp_path) == {"a": b"old", "b": b"old", "src/c": b"new", "src/x/d": b"old"}
    memory.invalidate({"src", "unheard/of"}, walk=False)
    assert known(memory, tmp_path) == {"a": b"old", "b": b"old", "src/c": b"new", "src/x/d": b"new"}
    memory.invalidate({"."}, walk=False)
    assert set(known(memory, tmp_path).values()) == {b"new"}


def test_a_file_that_is_no_text_is_not_looked_at_again(tmp_path: Path) -> None:
    tree(tmp_path, "\0")
    memory = ContentCache()
    assert known(memory, tmp_path) == {}
    tree(tmp_path, "text")
    assert known(memory, tmp_path) == {}


def test_the_selection_is_kept_until_files_may_have_come_or_gone(tmp_path: Path) -> None:
    memory = ContentCache()
    found = select_files(resolve_targets([str(tmp_path)], "/"), SelectionRules(), lambda _: None)
    assert memory.select(lambda: found) is memory.select(lambda: found._replace(top="/")) is found
    memory.invalidate({"a"}, walk=False)
    assert memory.selection is not None
    memory.invalidate({"a"}, walk=True)
    assert memory.selection is None
