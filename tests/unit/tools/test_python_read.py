import ast
import re
import sysconfig
from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.core.errors import Exhausted
from marid.toolkit.handles import FolderRef
from marid.toolkit.inventory import load_tools
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import ToolSpec
from marid.tools.python_files import MAX_FILE_BYTES, PythonFiles
from marid.tools.python_read import (
    py_check_syntax,
    py_get_class_summary,
    py_get_code_outline,
    py_get_definition,
    py_get_docstring,
    py_get_hierarchy,
    py_get_imports,
    py_get_signature,
    py_get_skeleton,
    py_get_var_declaration,
)

CODE = '''"""A shop."""
import os
class Shop:
    """Sells."""
    def open(self) -> None:
        """At eight."""
        print(os)
'''
BY_NAME = (py_get_definition, py_get_signature, py_get_var_declaration)
PROPERTY = '''\
LIMIT: int = 3


class Shop:
    open = True

    @property
    def name(self) -> str:
        """The name."""
        return "x"
'''
NAMED = {spec.name: {"name": "Shop"} for spec in (py_get_class_summary, py_get_docstring, *BY_NAME)}
ONE_FILE = [spec for spec in load_tools("marid.tools.python_read") if spec.name != "py_get_hierarchy"]


def call(root: Path, spec: ToolSpec, path: str = "shop.py", **more: str) -> ToolOutput:
    return ToolCaller(root).output(spec, path=path, **{**NAMED.get(spec.name, {}), **more})


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    return tmp_path


def test_a_skeleton_has_no_bodies(shop: Path) -> None:
    text = call(shop, py_get_skeleton).text
    assert '"""At eight."""\n        ...\n' in text
    assert "print" not in text
    ast.parse(text)


def test_an_outline_has_kinds_and_lines(shop: Path) -> None:
    outcome = call(shop, py_get_code_outline)
    assert outcome.text == "[Class] Shop (Lines 3-7)\n  [Method] open (Lines 5-7)"
    assert outcome.values == {"definitions": 2}


def test_a_class_an_import_and_a_docstring_are_told(shop: Path) -> None:
    assert "def open(self) -> None (Lines 5-7)" in call(shop, py_get_class_summary).text
    assert call(shop, py_get_docstring).text == "Sells."
    assert call(shop, py_get_docstring, name="module").text == "A shop."
    outcome = call(shop, py_get_imports)
    assert outcome.text == "import os (Line 2)"
    assert outcome.values == {"modules": ["os"]}


def test_a_definition_is_given_as_it_stands_with_its_lines(shop: Path) -> None:
    (shop / "a.py").write_text(PROPERTY)
    done = call(shop, py_get_definition, "a.py", name="Shop.name")
    assert done.text == PROPERTY[PROPERTY.index("    @property") :]
    assert done.values == {"start_line": 7, "end_line": 10}
    assert call(shop, py_get_signature, "a.py", name="Shop.name").text == "def name(self) -> str:"
    assert call(shop, py_get_var_declaration, "a.py", name="LIMIT").text == "LIMIT: int = 3\n"
    assert call(shop, py_get_var_declaration, "a.py", name="Shop.open").text == "    open = True\n"


@pytest.mark.parametrize("spec", BY_NAME, ids=lambda spec: spec.name)
def test_errors_name_the_path_as_it_was_given(shop: Path, spec: ToolSpec) -> None:
    failed = ToolCaller(shop).failure(spec, path="./shop.py", name="Shop.nam")
    assert failed.code == "not_found"
    assert failed.message.startswith("'./shop.py': 'Shop.nam' is not defined in the file")


def test_an_import_inside_a_function_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    from .b import c as d\n")
    assert call(tmp_path, py_get_imports, "a.py").text == "from .b import c as d (Line 2, in f)"


def test_syntax_is_ok_or_has_a_line(shop: Path) -> None:
    assert call(shop, py_check_syntax) == ToolOutput(text="OK", values={"ok": True})
    (shop / "bad.py").write_text("x = 1\ny = = 2\n")
    outcome = call(shop, py_check_syntax, "bad.py")
    assert outcome.text == "Syntax error in bad.py at line 2, column 5: invalid syntax"
    assert outcome.values == {"ok": False, "line": 2, "column": 5, "message": "invalid syntax"}
    (shop / "raw.py").write_bytes(b"\n'\xff'\n")
    assert call(shop, py_check_syntax, "raw.py").text.startswith("Syntax error in raw.py at line 2: not UTF-8")


def test_an_empty_file_has_nothing_to_tell(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"")
    assert call(tmp_path, py_get_skeleton, "a.py").text == ""
    assert call(tmp_path, py_get_code_outline, "a.py") == ToolOutput(
        text="nothing is defined in this file", values={"definitions": 0}
    )
    assert call(tmp_path, py_get_imports, "a.py").text == "no imports"
    assert call(tmp_path, py_check_syntax, "a.py").text == "OK"


@pytest.mark.parametrize("spec", [spec for spec in ONE_FILE if spec is not py_check_syntax], ids=lambda spec: spec.name)
def test_a_file_that_does_not_parse_is_an_error_with_path_and_line(tmp_path: Path, spec: ToolSpec) -> None:
    (tmp_path / "bad.py").write_text("x = 1\ny = = 2\n")
    failed = ToolCaller(tmp_path).failure(spec, path="bad.py", **NAMED.get(spec.name, {}))
    assert failed.code == "bad_input"
    assert failed.message.startswith("'bad.py': line 2, column 5: ")


@pytest.mark.parametrize("spec", ONE_FILE, ids=lambda spec: spec.name)
def test_bad_input_is_an_error_with_words(tmp_path: Path, spec: ToolSpec) -> None:
    (tmp_path / "a.txt").write_text("x = 1\n")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "bomb.py").write_text("-" * 100_000 + "1")
    hands, more = ToolCaller(tmp_path), NAMED.get(spec.name, {})
    wrong = hands.failure(spec, path="a.txt", **more)
    assert (wrong.code, "no Python file" in wrong.message) == ("bad_input", True)
    assert hands.failure(spec, path="none.py", **more).code == "not_found"
    assert hands.failure(spec, path="folder.py", **more).code == "bad_input"
    bomb = hands.failure(spec, path="bomb.py", **more)
    assert (bomb.code, bomb.message.startswith("'bomb.py': nested too deeply")) == ("exhausted", True)


def test_a_script_is_python_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#!/usr/bin/env python3\nX = 1\n")
    assert "X (Lines 2-2)" in call(tmp_path, py_get_code_outline, "run").text


def test_a_hierarchy_spans_the_files_of_a_folder(shop: Path) -> None:
    (shop / "sub").mkdir()
    (shop / "sub" / "corner.py").write_text("from shop import Shop\nclass Corner(Shop): ...\n")
    (shop / "sub" / "broken.py").write_text("class Broken(Shop):\n")
    with (shop / "sub" / "large.py").open("wb") as file:
        file.truncate(5 << 20)
    outcome = call(shop, py_get_hierarchy, ".", class_name="Shop")
    assert outcome.text == (
        "shop.py:3: class Shop\n  sub/corner.py:2: class Corner(Shop)\n"
        "(not understood, so left out: sub/broken.py)\n(1 files could not be read or are too large)"
    )
    assert outcome.values == {"subclasses": 1, "truncated": False}


def test_a_hierarchy_of_one_file(shop: Path) -> None:
    outcome = call(shop, py_get_hierarchy, class_name="Shop")
    assert outcome.text == "shop.py:3: class Shop\nno subclasses found"
    assert ToolCaller(shop).failure(py_get_hierarchy, path="shop.py", class_name="Shopp").code == "not_found"
    assert ToolCaller(shop).failure(py_get_hierarchy, path="none", class_name="Shop").code == "not_found"
    (shop / "a.txt").write_text("class Shop: ...")
    assert ToolCaller(shop).failure(py_get_hierarchy, path="a.txt", class_name="Shop").code == "bad_input"


def test_a_long_hierarchy_is_cut(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A: ...\n" + "".join(f"class B{n}(A): ...\n" for n in range(1100)))
    outcome = call(tmp_path, py_get_hierarchy, "a.py", class_name="A")
    assert outcome.text.endswith("(101 more lines: ask for a class further down or a smaller folder)")
    assert outcome.values == {"subclasses": 1100, "truncated": True}


def test_a_hierarchy_of_real_code() -> None:
    root = Path(sysconfig.get_paths()["stdlib"])
    text = ToolCaller(root).text(py_get_hierarchy, path="email", class_name="Message")
    assert ": class MIMEPart(Message)\n    email/message.py:" in text
    assert re.search(r"\n      email/mime/text\.py:\d+: class MIMEText\(MIMENonMultipart\)", text)


def folder(root: Path, name: str = ".") -> FolderRef:
    return FolderRef(ToolCaller(root).path_scope.resolve(name), name)


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
