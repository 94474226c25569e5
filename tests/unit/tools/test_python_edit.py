from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.toolkit.outcome import EditPlan
from marid.toolkit.spec import ToolSpec
from marid.tools.python_edit import (
    py_add_def,
    py_move_def,
    py_region_wrap,
    py_remove_def,
    py_set_signature,
    py_set_var_declaration,
    py_update_definition,
)
from marid.workspace.guard.api import MAX_FILE_BYTES

CODE = '''\
"""Shop."""

LIMIT = 3


class Shop:
    def name(self):
        return "x"

    def size(self):
        return 1


def free():
    return LIMIT
'''
ARGUMENTS: dict[ToolSpec, dict[str, object]] = {
    py_update_definition: {"path": "a.py", "name": "free", "new_content": "def free():\n    return 2"},
    py_set_signature: {"path": "a.py", "name": "free", "new_signature": "def free(x)"},
    py_set_var_declaration: {"path": "a.py", "name": "LIMIT", "new_declaration": "LIMIT = 4"},
    py_remove_def: {"path": "a.py", "name": "free"},
    py_add_def: {"path": "a.py", "name": "n", "new_content": "def n(): pass", "anchor_type": "bottom"},
    py_move_def: {"src_path": "a.py", "dest_path": "b.py", "name": "free"},
    py_region_wrap: {"path": "a.py", "start_line": 3, "end_line": 3, "region_name": "limits"},
}


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    (tmp_path / "a.py").write_bytes(CODE.encode())
    return ToolCaller(tmp_path)


def read(hands: ToolCaller, name: str = "a.py") -> str:
    return (hands.root / name).read_bytes().decode()


@pytest.mark.parametrize("spec", ARGUMENTS, ids=lambda spec: spec.name)
def test_a_plan_touches_nothing_and_says_what_it_was_made_from(hands: ToolCaller, spec: ToolSpec) -> None:
    plan = hands.plan(spec, **ARGUMENTS[spec])
    assert isinstance(plan, EditPlan)
    assert read(hands) == CODE
    assert plan.changes[-1].before == CODE.encode()
    assert "'a.py'" in plan.text


@pytest.mark.parametrize("spec", ARGUMENTS, ids=lambda spec: spec.name)
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"x = 1\ndef f(:\n", "'a.py': line 2, column 7"),
        (b"x = 1\ny = '\xff'\n", "'a.py': line 2: not UTF-8"),
        (b"\x7fELF\0\0\1", "'a.py': line 1: null byte"),
    ],
)
def test_a_file_that_is_no_python_is_an_error_and_stays(
    hands: ToolCaller, spec: ToolSpec, data: bytes, words: str
) -> None:
    (hands.root / "a.py").write_bytes(data)
    failed = hands.failure(spec, **ARGUMENTS[spec])
    assert failed.code == "bad_input"
    assert failed.message.startswith(words)
    assert (hands.root / "a.py").read_bytes() == data


def test_a_definition_is_updated(hands: ToolCaller) -> None:
    said = hands.text(py_update_definition, path="a.py", name="Shop.name", new_content="def name(self):\n  return 2")
    assert said == "updated 'Shop.name' in 'a.py': lines 7-8"
    assert read(hands) == CODE.replace('return "x"', "return 2")


def test_a_signature_and_a_variable_are_set(hands: ToolCaller) -> None:
    hands.text(py_set_signature, path="a.py", name="Shop.size", new_signature="async def size(self, x) -> int")
    hands.text(py_set_var_declaration, path="a.py", name="LIMIT", new_declaration="LIMIT: int = 4")
    assert read(hands) == CODE.replace("def size(self):", "async def size(self, x) -> int:").replace(
        "LIMIT = 3", "LIMIT: int = 4"
    )


def test_a_definition_is_removed_and_added_again(hands: ToolCaller) -> None:
    hands.text(py_remove_def, path="a.py", name="Shop.name")
    assert "def name" not in read(hands)
    hands.text(
        py_add_def,
        path="a.py",
        name="Shop.name",
        new_content='def name(self):\n    return "x"',
        anchor_type="before",
        anchor_symbol="Shop.size",
    )
    assert read(hands) == CODE


def test_lines_are_wrapped_in_a_region(hands: ToolCaller) -> None:
    hands.text(py_region_wrap, path="a.py", start_line=7, end_line=8, region_name="names")
    assert '    #region names\n    def name(self):\n        return "x"\n    #endregion\n' in read(hands)


def test_a_move_between_files_is_one_edit_of_both(hands: ToolCaller) -> None:
    (hands.root / "b.py").write_text("class B:\n\tx = 1\n")
    plan = hands.plan(py_move_def, src_path="a.py", dest_path="b.py", name="Shop.name", dest_name="B.title")
    assert isinstance(plan, EditPlan)
    assert [change.path.name for change in plan.changes] == ["b.py", "a.py"]
    said = hands.text(py_move_def, src_path="a.py", dest_path="b.py", name="Shop.name", dest_name="B.title")
    assert said == "moved 'Shop.name' from 'a.py' to 'B.title' in 'b.py': lines 4-5"
    assert read(hands, "b.py") == 'class B:\n\tx = 1\n\n\tdef title(self):\n\t\treturn "x"\n'
    assert "def name" not in read(hands)


def test_a_move_makes_a_file_that_is_not_there(hands: ToolCaller) -> None:
    hands.text(py_move_def, src_path="a.py", dest_path="new.py", name="free@14")
    assert read(hands, "new.py") == "def free():\n    return LIMIT\n"
    assert read(hands) == CODE[: CODE.index("\n\ndef free")]


def test_a_move_inside_a_file_changes_it_once(hands: ToolCaller) -> None:
    hands.text(
        py_move_def,
        src_path="a.py",
        dest_path="./a.py",
        name="free",
        dest_name="Shop.free",
        anchor_type="after",
        anchor_symbol="name",
    )
    assert '"x"\n\n    def free():\n        return LIMIT\n\n    def size' in read(hands)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"dest_path": "notes.txt"}, "bad_input", "'notes.txt' is not there, and would be no Python file"),
        ({"dest_path": "there.txt"}, "bad_input", "'there.txt' is no Python file"),
        ({"src_path": "there.txt", "dest_path": "a.py"}, "bad_input", "'there.txt' is no Python file"),
        ({"dest_path": "new.py", "dest_name": "B.free"}, "not_found", "'new.py': 'B' is not defined"),
        ({"dest_path": "a.py", "anchor_type": "after", "anchor_symbol": "Shp"}, "not_found", "did you mean 'Shop"),
        ({"dest_path": "a.py", "anchor_type": "beside"}, "bad_input", "anchor_type"),
        ({"dest_path": "../b.py"}, "refused", "b.py"),
    ],
)
def test_a_move_that_cannot_be_leaves_everything(
    hands: ToolCaller, arguments: dict[str, object], code: str, words: str
) -> None:
    (hands.root / "there.txt").touch()
    failed = hands.failure(py_move_def, **{"src_path": "a.py", "name": "free", **arguments})
    assert failed.code == code
    assert words in failed.message
    assert read(hands) == CODE
    assert sorted(path.name for path in hands.root.iterdir()) == ["a.py", "there.txt"]


def test_a_result_that_is_too_large_is_too_much(hands: ToolCaller) -> None:
    content = f"def free():\n    return '{'x' * MAX_FILE_BYTES}'"
    failed = hands.failure(py_update_definition, path="a.py", name="free", new_content=content)
    assert failed.code == "exhausted"
