"""Text files as the tools take them."""

from pathlib import Path

import pytest

from fakes.hands import Hands
from marid.core.errors import BadInput, Exhausted, NotFound
from marid.toolkit.handles import FileRef, TargetRef
from marid.toolkit.params import tool_params
from marid.toolkit.spec import ToolSpec
from marid.tools import (
    analysis,
    code,
    cpp,
    file_lines,
    files,
    python_edit,
    python_lookup,
    python_read,
    slice_anchors,
    text_search,
)
from marid.tools.text_files import (
    FileDraft,
    check_at_least,
    check_size,
    count_text,
    read_bytes,
    read_text,
    with_path_hints,
)
from marid.workspace.guard.api import MAX_FILE_BYTES, PathScope


def ref(folder: Path, name: str) -> TargetRef:
    return TargetRef(PathScope([str(folder)]).resolve(name), name)


def test_a_text_is_read_with_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfhi")
    data, text = read_text(ref(tmp_path, "a"))
    assert (data, text.text) == (b"\xef\xbb\xbfhi", "hi")


def test_a_binary_file_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0" * 2_000)
    with pytest.raises(BadInput, match=r"'a': binary file of 2.0 KB, not text"):
        read_text(ref(tmp_path, "a"))


def test_a_huge_file_is_refused_with_what_to_use_instead(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(Exhausted, match=r"'a' is larger than 16.8 MB: .* get_file_slice, file_head or file_tail"):
        read_bytes(ref(tmp_path, "a"))


def test_a_missing_file_is_told_with_names_near_it(tmp_path: Path) -> None:
    (tmp_path / "settings.py").touch()
    with pytest.raises(NotFound, match=r"similar: settings\.py"), with_path_hints(ref(tmp_path, "setings.py")):
        FileRef(ref(tmp_path, "setings.py").path, "setings.py").read()


MODULES = (analysis, slice_anchors, code, cpp, files, text_search, file_lines, python_edit, python_lookup, python_read)
READING = [spec for module in MODULES for spec in module.TOOLS if spec.name not in ("write_file", "derive_code_path")]
ARGUMENTS: dict[str, object] = {
    **dict.fromkeys(("start_line", "end_line"), 1),
    **dict.fromkeys(("name", "class_name", "pattern", "old_string", "new_string", "region_name", "anchor"), "x"),
    **dict.fromkeys(("new_content", "new_signature", "new_declaration"), "def x(): pass"),
    "operation": "delete_lines",
}


@pytest.mark.parametrize("spec", READING, ids=lambda spec: spec.name)
def test_every_tool_that_reads_a_file_tells_names_near_a_missing_one(tmp_path: Path, spec: ToolSpec) -> None:
    known = tool_params(spec).json_schema["properties"]
    ending = "c" if spec.family == "cpp" else "py"
    (tmp_path / f"settings.{ending}").touch()
    paths = {name: f"setings.{ending}" for name in known if name.endswith("path")}
    paths |= {"anchor": '{"start": 1, "end": 1}'} if "anchor" in known else {}
    given = {name: value for name, value in ARGUMENTS.items() if name in known} | paths
    failure = Hands(tmp_path).failure(spec, **given)
    assert failure.message == f"setings.{ending}: not found; similar: settings.{ending}"


def test_a_draft_keeps_the_encoding(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9")
    draft = FileDraft(ref(tmp_path, "a"))
    assert draft.text == "café"
    (change,) = draft.plan("thé", "done", {"n": 1}).changes
    assert (change.before, change.after) == (b"caf\xe9", b"th\xe9")
    with pytest.raises(BadInput, match="cp1252 cannot encode"):
        draft.plan("中", "done", {})


def test_a_file_that_nobody_could_read_again_is_not_made() -> None:
    check_size(b"x")
    with pytest.raises(Exhausted, match=r"would have 16.8 MB"):
        check_size(bytes(MAX_FILE_BYTES + 1))


def test_numbers_are_counted_and_checked() -> None:
    assert count_text(1, "line") == "1 line"
    assert count_text(2_000, "line") == "2,000 lines"
    check_at_least(1, lines=1)
    with pytest.raises(BadInput, match="lines is 0: it must be at least 1"):
        check_at_least(1, path=3, lines=0)
