"""Text files as the tools take them."""

from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.core.errors import BadInput
from marid.toolkit.handles import TargetRef
from marid.toolkit.inventory import load_tools
from marid.toolkit.params import tool_params
from marid.toolkit.spec import ToolSpec
from marid.tools.text_files import read_text
from marid.workspace.guard.api import PathScope


def ref(folder: Path, name: str) -> TargetRef:
    return TargetRef(PathScope([str(folder)]).resolve(name), name)


def test_a_binary_file_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0" * 2_000)
    with pytest.raises(BadInput, match=r"'a': binary file of 2.0 KB, not text"):
        read_text(ref(tmp_path, "a"))


MODULES = (
    "analysis",
    "slice_anchors",
    "code",
    "cpp",
    "files",
    "text_search",
    "file_lines",
    "python_edit",
    "python_read",
)
SPECS = [spec for module in MODULES for spec in load_tools(f"marid.tools.{module}")]
READING = [spec for spec in SPECS if spec.name not in ("write_file", "derive_code_path")]
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
    failure = ToolCaller(tmp_path).failure(spec, **given)
    assert failure.message == f"setings.{ending}: not found; similar: settings.{ending}"
