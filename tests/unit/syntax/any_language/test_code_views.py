"""Outlines, skeletons and definitions in every language."""

import sysconfig
from pathlib import Path

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.any_language.code_views import definition, outline, skeleton
from marid.syntax.python.source_views import py_outline, py_skeleton

LIBRARY = Path(sysconfig.get_paths()["stdlib"])

SOURCES = {
    "python": (
        "class Shop:\n    def total(self):\n        '''Sum.'''\n        return 1\n",
        ["[Class] Shop (Lines 1-4)", "  [Method] total (Lines 2-4)"],
        "class Shop:\n    def total(self):\n        '''Sum.'''\n        ...\n",
    ),
    "javascript": (
        "class Shop {\n  total(x) {\n    return x;\n  }\n}\n",
        ["[Class] Shop (Lines 1-5)", "  [Method] total (Lines 2-4)"],
        "class Shop {\n  total(x) { ... }\n}\n",
    ),
    "typescript": (
        "namespace n {\n  export class Shop {\n    total(x: number): number { return x; }\n  }\n}\n",
        ["[Namespace] n (Lines 1-5)", "  [Class] Shop (Lines 2-4)", "    [Method] total (Lines 3-3)"],
        "namespace n {\n  export class Shop {\n    total(x: number): number { ... }\n  }\n}\n",
    ),
    "tsx": (
        "const Shop = (p: P) => {\n  const total = 1;\n  return <b>{total}</b>;\n};\n",
        ["[Function] Shop (Lines 1-4)"],
        "const Shop = (p: P) => { ... };\n",
    ),
    "c": ("int total(void)\n{\n    return 1;\n}\n", ["[Function] total (Lines 1-4)"], "int total(void) { ... }\n"),
    "cpp": (
        "struct Shop : Base {\n  int total() { return 1; }\n};\n",
        ["[Struct] Shop (Lines 1-3) : Base", "  [Method] total (Lines 2-2)"],
        "struct Shop : Base {\n  int total() { ... }\n};\n",
    ),
    "java": (
        "class Shop {\n  int total() { return 1; }\n}\n",
        ["[Class] Shop (Lines 1-3)", "  [Method] total (Lines 2-2)"],
        "class Shop {\n  int total() { ... }\n}\n",
    ),
    "go": (
        "package a\n\nfunc (s *Shop) total() int {\n\treturn 1\n}\n",
        ["[Method] Shop.total (Lines 3-5)"],
        "package a\n\nfunc (s *Shop) total() int { ... }\n",
    ),
    "rust": (
        "impl Shop {\n    fn total(&self) -> i32 { 1 }\n}\n",
        ["[Impl] Shop (Lines 1-3)", "  [Method] total (Lines 2-2)"],
        "impl Shop {\n    fn total(&self) -> i32 { ... }\n}\n",
    ),
    "csharp": (
        "class Shop {\n  int total() { return 1; }\n  int Half => 2;\n  int Size { get { return 1; } set; }\n}\n",
        [
            "[Class] Shop (Lines 1-5)",
            "  [Method] total (Lines 2-2)",
            "  [Property] Half (Lines 3-3)",
            "  [Property] Size (Lines 4-4)",
        ],
        "class Shop {\n  int total() { ... }\n  int Half => 2;\n  int Size { get { ... } set; }\n}\n",
    ),
    "ruby": (
        "class Shop\n  def total\n    1\n  end\nend\n",
        ["[Class] Shop (Lines 1-5)", "  [Method] total (Lines 2-4)"],
        "class Shop\n  def total\n    ...\n  end\nend\n",
    ),
    "php": (
        "<?php\nclass Shop {\n  function total() { return 1; }\n}\n",
        ["[Class] Shop (Lines 2-4)", "  [Method] total (Lines 3-3)"],
        "<?php\nclass Shop {\n  function total() { ... }\n}\n",
    ),
    "bash": ("total() {\n  echo 1\n}\n", ["[Function] total (Lines 1-3)"], "total() { ... }\n"),
}


@pytest.mark.parametrize("language", SOURCES)
def test_every_language_has_outlines_and_skeletons(language: str) -> None:
    source, lines, made = SOURCES[language]
    assert outline(source.encode(), language).split("\n") == lines
    assert skeleton(source.encode(), language) == made


@pytest.mark.parametrize("language", [each for each in SOURCES if each != "tsx"])
def test_every_language_has_definitions(language: str) -> None:
    source = SOURCES[language][0]
    found = definition(source.encode(), language, "total", "x")
    assert found.text in source
    assert "total" in found.text.split("\n")[0]
    first, last = found.spans[0]
    assert "\n".join(source.split("\n")[first - 1 : last]) == found.text


BROKEN = b"print 1\n"


def test_python_has_the_views_of_the_python_tools() -> None:
    for path in (LIBRARY / "ast.py", LIBRARY / "asyncio" / "locks.py"):
        data = path.read_bytes()
        assert outline(data, "python") == py_outline(data)
        assert skeleton(data, "python") == py_skeleton(data)


def test_python_that_does_not_parse_has_views_too() -> None:
    source = BROKEN + b"class A:\n    async def f(self): return 1\n"
    assert outline(source, "python") == "[Class] A (Lines 2-3)\n  [Method] f (Lines 3-3)"
    assert skeleton(source, "python") == "print 1\nclass A:\n    async def f(self): ...\n"


def test_docstrings_stay_wherever_they_stand() -> None:
    source = b'def f(): "doc"; return 1\ndef g(): return 1\ndef h():\n    # why\n    return 1\ndef i():\n    "only"\n'
    assert skeleton(BROKEN + source, "python") == (
        'print 1\ndef f(): "doc"; ...\ndef g(): ...\ndef h():\n    # why\n    ...\ndef i():\n    "only"\n    ...\n'
    )


def test_long_values_are_cut_and_short_ones_stay() -> None:
    source = b"A = {\n    1: 2,\n    3: 4,\n    5: 6,\n}\nB = [\n    1,\n]\nC: int\n"
    assert skeleton(BROKEN + source, "python") == "print 1\nA = ...\nB = [\n    1,\n]\nC: int\n"
    assert skeleton(b"const a = {\n  b: 1,\n  c: 2,\n  d: 3,\n};\n", "javascript") == "const a = ...;\n"


def test_short_functions_of_one_expression_stay() -> None:
    assert skeleton(b"const f = (x) => x + 1;\n", "javascript") == "const f = (x) => x + 1;\n"
    assert skeleton(b"const f = (x) =>\n  x + 1;\n", "javascript") == "const f = (x) =>\n  x + 1;\n"
    assert skeleton(b"const f = (x) => x +\n  1;\n", "javascript") == "const f = (x) => ...;\n"


def test_of_a_language_that_we_hardly_know_a_skeleton_is_the_outline() -> None:
    data = b"class A { int F() { return 1; } }\n"
    assert skeleton(data, "c_sharp") == outline(data, "c_sharp")
    assert outline(data, "c_sharp") == "[Class] A (Lines 1-1)\n  [Method] F (Lines 1-1)"


JAVA = b"class Outer {\n  class Inner { Inner() { } }\n  int f() { return 1; }\n  int f(int a) { return a; }\n}\n"


def test_names_may_be_dotted_or_written_with_colons() -> None:
    source = b"mod a { impl Shop { fn total(&self) { } } }\n"
    for name in ("total", "Shop.total", "Shop::total", "a::Shop::total"):
        assert definition(source, "rust", name, "x").text == "fn total(&self) { }"


def test_a_type_goes_before_its_constructors_and_implementations() -> None:
    assert definition(JAVA, "java", "Inner", "x").text == "  class Inner { Inner() { } }"
    assert definition(b"struct S { a: i32 }\nimpl S { fn f() { } }\n", "rust", "S", "x").text == "struct S { a: i32 }"


def test_a_body_goes_before_declarations() -> None:
    source = b"function f(a: string): void;\nfunction f(a: any) { return 1; }\n"
    assert definition(source, "typescript", "f", "x").text == "function f(a: any) { return 1; }"


def test_several_of_one_name_are_ambiguous_and_a_line_decides() -> None:
    with pytest.raises(BadInput, match=r"'f' is ambiguous in A\.java") as caught:
        definition(JAVA, "java", "f", "A.java")
    assert "'Outer.f@4': int f(int a)" in str(caught.value)
    assert definition(JAVA, "java", "f@4", "A.java").text == "  int f(int a) { return a; }"


def test_many_are_not_all_listed() -> None:
    with pytest.raises(BadInput, match="and 12 more"):
        definition(b"def f(): pass\n" * 20, "python", "f", "x")


def test_an_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(NotFound, match=r"'Iner' is not defined in A\.java; did you mean 'Outer\.Inner"):
        definition(JAVA, "java", "Iner", "A.java")
    with pytest.raises(NotFound):
        definition(b"", "python", "f", "x")


@pytest.mark.parametrize("name", ["", " ", "."])
def test_no_name_is_an_error(name: str) -> None:
    with pytest.raises(BadInput, match="a name is needed"):
        definition(JAVA, "java", name, "x")


def test_a_definition_is_whole_lines_where_it_has_them_for_itself() -> None:
    source = b"if x:\n    def f(): pass  # why\n    y = 1; z = 2\n"
    assert definition(source, "python", "f", "x").text == "    def f(): pass  # why"
    assert definition(source, "python", "z", "x").text == "z = 2"
    assert definition(b"export const a = 1;\n", "javascript", "a", "x").text == "export const a = 1;"
