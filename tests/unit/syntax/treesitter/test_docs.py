"""What an author says about a definition is found where the language puts it."""

import pytest

from marid.syntax.treesitter.definitions import definitions


def doc(source: str, language: str) -> str:
    return definitions(source.encode(), language)[-1].doc


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('"""One line."""', "One line."),
        ('"""One line.\n\n    More.\n    """', "One line."),
        ('"""\n    Below.\n    """', "Below."),
        ("'single'", "single"),
        ('r"""Raw \\d."""', "Raw \\d."),
        ('U"old"', "old"),
        ('"""Ends in a "quote\\""""', 'Ends in a "quote\\"'),
        ("\"Ends in 'quote'\"", "Ends in 'quote'"),
        ('f"""Not {a} docstring."""', ""),
        ('b"bytes"', ""),
        ('""', ""),
        ('x = "value"', ""),
        ('"a", "b"', ""),
        ("pass", ""),
        ('# note\n    "after a note"', "after a note"),
    ],
)
def test_the_first_line_of_a_docstring(body: str, line: str) -> None:
    assert doc(f"def f():\n    {body}\n", "python") == line


def test_python_comments_are_not_docstrings() -> None:
    assert doc("# about f\ndef f(): pass\n", "python") == ""


@pytest.mark.parametrize(
    ("language", "source", "line"),
    [
        ("javascript", "/** Adds. */\nfunction f() {}\n", "Adds."),
        ("javascript", "/**\n * Adds\n * numbers.\n * @param a\n */\nexport function f() {}\n", "Adds"),
        ("javascript", "/** @param a */\nfunction f() {}\n", ""),
        ("typescript", "/** Sells. */\n@A()\nexport class S {}\n", "Sells."),
        ("typescript", "class S {\n  /** Sells. */\n  @A() f() {}\n}\n", "Sells."),
        ("c", "/* One.\n * Two. */\nint f(void);\n", "One."),
        ("c", "//! One.\nint f(void);\n", "One."),
        ("c", "/*****\n * Framed.\n *****/\nint f(void);\n", "Framed."),
        ("cpp", "/// A shop.\ntemplate <class T>\nclass S {};\n", "A shop."),
        ("cpp", "/* inline */ int f();\n", "inline"),
        ("go", "// F does.\n// More.\nfunc F() {}\n", "F does."),
        ("go", "type (\n\t// A is.\n\tA int\n)\n", "A is."),
        ("rust", "//! About the file.\n/// About f.\n#[inline]\nfn f() {}\n", "About f."),
        ("rust", "/// About f.\n#[inline]\n// why inline\nfn f() {}\n", "About f."),
        ("rust", "/** Block. */\nfn f() {}\n", "Block."),
        ("java", "/** Sells. */\n@A\npublic class S {}\n", "Sells."),
        ("csharp", "/// <summary>\n/// Sells.\n/// </summary>\n[A]\npublic class S {}\n", "Sells."),
        ("ruby", "# Sells.\nclass S\nend\n", "Sells."),
        ("php", "<?php\n/**\n * Sells.\n */\n#[A]\nclass S {}\n", "Sells."),
        ("bash", "#!/bin/sh\n# Opens.\nopen() { :; }\n", "Opens."),
        ("bash", "#!/bin/sh\nopen() { :; }\n", ""),
    ],
)
def test_the_comment_right_above(language: str, source: str, line: str) -> None:
    assert doc(source, language) == line


@pytest.mark.parametrize(
    "source",
    [
        "// far away\n\nfunc F() {}\n",
        "// about x\nvar x = 1\nfunc F() {}\n",
        "var x = 1 // about x\nfunc F() {}\n",
        "// =======\nfunc F() {}\n",
    ],
)
def test_a_comment_that_is_about_something_else_is_left_alone(source: str) -> None:
    assert doc("package a\n" + source, "go") == ""


def test_only_the_last_block_of_comments_counts() -> None:
    assert doc("package a\n\n// The licence.\n\n// F does.\nfunc F() {}\n", "go") == "F does."


def test_a_run_of_comments_begins_behind_code_only_if_it_is_on_lines_of_its_own() -> None:
    assert doc("package a\nvar x = 1 // about x\n// F does.\nfunc F() {}\n", "go") == "F does."
