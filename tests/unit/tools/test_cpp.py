"""The C and C++ tools, called as a caller calls them."""

from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.toolkit.inventory import load_tools
from marid.toolkit.outcome import EditPlan
from marid.toolkit.spec import ToolSpec
from marid.tools import cpp

CODE = Path(__file__).parents[2] / "golden" / "cpp"
TOOLS = load_tools(cpp.__name__)
UPDATES = [spec for spec in TOOLS if "update" in spec.name]


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    for path in CODE.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return ToolCaller(tmp_path)


def given(spec: ToolSpec, path: str) -> dict[str, object]:
    args: dict[str, object] = {"path": path}
    if "outline" not in spec.name and "skeleton" not in spec.name:
        args["name"] = "f"
    if "update" in spec.name:
        args["new_content"] = "int f();"
    return args


def test_what_is_cpp_by_its_name_is_read_as_that_by_the_tools_for_c(hands: ToolCaller) -> None:
    (hands.root / "a.cpp").write_text("class A { void f() { g(); } };\n")
    assert hands.text(cpp.ts_c_get_skeleton, path="a.cpp") == "class A { void f() { ... } };\n"
    outline = "[Class] A (Lines 1-1)\n  [Method] f (Lines 1-1)"
    assert hands.text(cpp.ts_c_get_code_outline, path="a.cpp") == outline
    assert hands.text(cpp.ts_c_get_definition, path="a.cpp", name="A.f") == "void f() { g(); }"
    assert hands.text(cpp.ts_c_get_signature, path="a.cpp", name="f") == "void f()"
    hands.text(cpp.ts_c_update_definition, path="a.cpp", name="A::f", new_content="int f() { return 1; }")
    assert (hands.root / "a.cpp").read_text() == "class A { int f() { return 1; } };\n"
    (hands.root / "a.h").write_text("int new(int delete);\n")
    assert hands.text(cpp.ts_c_get_code_outline, path="a.h") == "[Function] new (Lines 1-1)"


@pytest.mark.parametrize(
    ("spec", "path", "name", "start"),
    [
        (cpp.ts_cpp_get_skeleton, "shapes.hpp", "", "// Shapes, and the drawings they are put into."),
        (cpp.ts_cpp_get_definition, "shapes.cpp", "Circle::area", "double Circle::area() const\n{\n    return pi"),
        (cpp.ts_cpp_get_definition, "shapes.hpp", "square", "template <typename T>\nrequires"),
        (cpp.ts_c_get_definition, "table.c", "checksum", "int checksum(text, length, start)\n    const char *text;"),
        (cpp.ts_c_get_signature, "table.c", "table_handler", "void (*table_handler(int kind))(const char *)"),
        (cpp.ts_cpp_get_signature, "shapes.cpp", "Step::Step", "Shape::Step::Step(Spot from_, Spot to_)"),
    ],
)
def test_code_is_read(hands: ToolCaller, spec: ToolSpec, path: str, name: str, start: str) -> None:
    assert hands.text(spec, path=path, **({"name": name} if name else {})).startswith(start)


def test_outlines(hands: ToolCaller) -> None:
    outline = hands.text(cpp.ts_c_get_code_outline, path="table.h")
    assert "[Struct] table_slot (Lines 41-46)\n  [Field] key (Lines 42-42)" in outline
    found = hands.output(cpp.ts_cpp_get_code_outline, path="shapes.hpp")
    assert "[Class] Circle (Lines 134-146) : public Shape\n" in found.text
    assert found.values["count"] == found.text.count("\n") + 1


def test_an_update_is_a_plan_of_one_change(hands: ToolCaller) -> None:
    before = (hands.root / "table.c").read_bytes()
    plan = hands.plan(
        cpp.ts_c_update_definition, path="table.c", name="ignore", new_content="static void ignore(void)\n{\n}\n"
    )
    assert isinstance(plan, EditPlan)
    assert (hands.root / "table.c").read_bytes() == before
    assert [change.before for change in plan.changes] == [before]
    assert plan.changes[0].after == before.replace(
        b"static void ignore(const char *text)\n{\n    (void)text;\n}", b"static void ignore(void)\n{\n}"
    )
    assert plan.text == "Replaced 'ignore' in table.c: lines 229-232, now 229-231."
    assert plan.values == {"before": [229, 232], "after": [229, 231]}


def test_a_byte_order_mark_and_other_encodings_are_kept(hands: ToolCaller) -> None:
    (hands.root / "bom.c").write_bytes(b"\xef\xbb\xbfint f(void);\r\nint g;\r\n")
    hands.text(cpp.ts_c_update_definition, path="bom.c", name="f", new_content="int f(int a);\n")
    assert (hands.root / "bom.c").read_bytes() == b"\xef\xbb\xbfint f(int a);\r\nint g;\r\n"
    (hands.root / "old.c").write_bytes("/* größe */\nint f(void);\n".encode("latin-1"))
    hands.text(cpp.ts_c_update_definition, path="old.c", name="f", new_content="int f(int a); /* ä */")
    assert (hands.root / "old.c").read_bytes() == "/* größe */\nint f(int a); /* ä */\n".encode("latin-1")
    assert "größe" in hands.text(cpp.ts_c_get_skeleton, path="old.c")


def test_characters_that_a_file_cannot_hold_are_refused(hands: ToolCaller) -> None:
    (hands.root / "old.c").write_bytes("/* größe */\nint f(void);\n".encode("latin-1"))
    told = hands.failure(cpp.ts_c_update_definition, path="old.c", name="f", new_content="int f(void); /* 中 */")
    assert (told.code, "cp1252" in told.message) == ("bad_input", True)


def test_wide_text_can_be_read_and_not_changed(hands: ToolCaller) -> None:
    (hands.root / "wide.c").write_bytes("int f(void);\n".encode("utf-16"))
    assert hands.text(cpp.ts_c_get_definition, path="wide.c", name="f") == "int f(void);"
    told = hands.failure(cpp.ts_c_update_definition, path="wide.c", name="f", new_content="int f(int a);")
    assert (told.code, told.message.startswith("wide.c is UTF-16")) == ("bad_input", True)


@pytest.mark.parametrize("spec", UPDATES, ids=lambda spec: spec.name)
def test_updates_that_are_refused_write_nothing(hands: ToolCaller, spec: ToolSpec) -> None:
    (hands.root / "x.c").write_bytes(b"int f(int a) { return a; }\nint g;\n")
    for content in ("", " \n", "int f(", "int f() { \ud800 }"):
        told = hands.failure(spec, path="x.c", name="f", new_content=content)
        assert told.code == "bad_input"
    assert (hands.root / "x.c").read_bytes() == b"int f(int a) { return a; }\nint g;\n"


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("none.c", "not_found", "none.c"),
        ("folder.c", "bad_input", "folder"),
        ("a.py", "bad_input", "a.py is no C or C++ file"),
        ("binary.c", "bad_input", "binary.c is a binary file"),
        ("large.c", "exhausted", "too large"),
    ],
)
def test_what_is_no_code_is_an_error(tmp_path: Path, spec: ToolSpec, path: str, code: str, words: str) -> None:
    (tmp_path / "folder.c").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "binary.c").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "large.c").write_bytes(b" " * 5_000_000)
    told = ToolCaller(tmp_path).failure(spec, **given(spec, path))
    assert told.code == code
    assert words in told.message


@pytest.mark.parametrize("spec", [spec for spec in TOOLS if "name" in given(spec, "")], ids=lambda spec: spec.name)
def test_an_unknown_name_is_an_error_that_helps(hands: ToolCaller, spec: ToolSpec) -> None:
    told = hands.failure(spec, **{**given(spec, "table.h"), "name": "tabel_free"})
    assert told.code == "not_found"
    assert "'tabel_free' is not defined in table.h; did you mean 'table_free" in told.message
