import pytest

from marid.core.errors import Exhausted
from marid.syntax.file_summary import file_summary


@pytest.mark.parametrize(
    ("name", "data", "summary"),
    [
        ("a.bin", b"\0\1", "binary file, 2 bytes"),
        ("a.txt", b"one\ntwo", "text, 2 lines, 7 bytes"),
        ("NOTES", b"one\n", "text, 1 line, 4 bytes"),
        ("a.py", b"", "python, 0 lines, 0 bytes\nempty"),
        ("a.md", b" \n", "markdown, 1 line, 2 bytes\nempty"),
        ("a.md", b"\xef\xbb\xbf# A\n", "markdown, 1 line, 7 bytes\n# A (line 1)"),
        ("a.py", b"# coding: latin-1\nX = '\xe9'\n", "python, 2 lines, 26 bytes\nconstants: X"),
        ("run", b"#!/usr/bin/env python3\nX = 1\n", "python, 2 lines, 29 bytes\nconstants: X"),
        ("a.jsonl", b"1\n", "json, 1 line, 2 bytes\n1 records, one a line\nthe first:\nnumber"),
        ("a.py", b"print()", "python, 1 line, 7 bytes"),
        ("a.yml", b"a: 1\n", "yaml, 1 line, 5 bytes\na (line 1)"),
        ("a.json", b"[", "json, 1 line, 1 bytes\ndoes not parse: Expecting value: line 1 column 2 (char 1)"),
    ],
)
def test_the_first_line_names_the_kind_of_a_file(name: str, data: bytes, summary: str) -> None:
    assert file_summary(name, data) == summary


def test_python_that_does_not_parse_is_summarized_by_tree_sitter() -> None:
    words = file_summary("a.py", b"def good():\n    return 1\n\ndef bad(:\n")
    assert "does not parse: line 4" in words
    assert "[Function] def good(): (Lines 1-2)" in words


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("a.c", b"struct point { int x; };\nint add(int a, int b) { return a + b; }\n", "int add(int a, int b)"),
        ("a.cpp", b"class Shop {\npublic:\n  void open();\n};\n", "  [Method] void open()"),
        ("a.h", b"int f(void);\nstruct s { int a; };\n", "struct s"),
        ("a.go", b"package a\nfunc F(x int) int { return x }\n", "func F(x int) int"),
        ("a.rs", b"pub fn f(x: u8) -> u8 { x }\n", "pub fn f(x: u8) -> u8"),
        ("a.ts", b"export class A { f(): void {} }\n", "class A"),
    ],
)
def test_code_of_other_languages_is_summarized_by_its_definitions(name: str, code: bytes, line: str) -> None:
    assert line in file_summary(name, code)


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.json", b"[" * 100_000), ("a.toml", b"a = " + b"[" * 100_000), ("a.py", b"-" * 100_000 + b"1")],
)
def test_a_bomb_is_exhausted(name: str, data: bytes) -> None:
    with pytest.raises(Exhausted, match="nested too deeply"):
        file_summary(name, data)


PYTHON = b'''"""A shop.

More."""
import os, sys
from .a import b
LIMIT = 3
name: str = "x"
class Shop(Base):
    def open(
        self,
        hour: int,
    ) -> None: ...
    class Till: ...
async def main(): ...
if True:
    def other(a, *, b=1): ...
'''


def test_a_python_file_is_summarized_by_imports_classes_functions_and_constants() -> None:
    assert (
        file_summary("a.py", PYTHON)
        == """\
python, 16 lines, 244 bytes
"A shop."
imports: os, sys, .a
class Shop(Base) (Lines 8-13)
  def open(self, hour: int) -> None (Lines 9-12)
  class Till (Lines 13-13)
functions:
  async def main() (Lines 14-14)
  def other(a, *, b=1) (Lines 16-16)
constants: LIMIT
variables: name"""
    )


def contents(name: str, text: str) -> str:
    """The lines after the first."""
    return "|".join(file_summary(name, text.encode()).split("\n")[1:])


def test_the_tables_of_toml_are_listed_with_their_keys() -> None:
    text = """
title = "x"
[a]
one = 1
two = [1, 2]
[a.b]
[c.d.e]
three = {four = 5}
[[people]]
name = "p"
[[people]]
name = "q"
"""
    assert contents("x.toml", text) == "keys: title|[a] one, two|[a.b]|[c.d.e.three] four|[[people]] name"


def test_deep_tables_of_toml_are_not_followed_for_ever() -> None:
    assert contents("x.toml", "a.b.c.d.e.f.g.h.i.j = 1") == ""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '{"a": 1, "b": {"c": 2, "d": 3}, "e": [1], "f": "s", "g": null, "h": true, "i": {}, "j": 1.5}',
            "object with 8 keys|  a: number|  b: object (c, d)|  e: array of 1|  f: string|  g: null|  h: boolean"
            "|  i: empty object|  j: number",
        ),
        ('[{"a": 1}, 2]', "array of 2, the first: object (a)|  its keys: a"),
        ("[1]", "array of 1, the first: number"),
        ("[]", "array of 0"),
        ("3", "number"),
    ],
)
def test_the_keys_of_json_are_listed_with_the_kinds_of_their_values(text: str, lines: str) -> None:
    assert contents("x.json", text) == lines


def test_many_or_long_keys_are_cut() -> None:
    many = "{" + ", ".join(f'"k{n}": 1' for n in range(300)) + "}"
    assert contents("x.json", many).endswith("|  and 100 more")
    assert contents("x.json", '{"' + "k" * 100 + '": 1}').endswith("|  " + "k" * 79 + "…: number")


def test_one_record_speaks_for_all() -> None:
    lines = contents("x.jsonl", '{"a": 1}\n\n{"b": 2}\n')
    assert lines == "2 records, one a line|the first:|object with 1 keys|  a: number"


def test_the_top_keys_of_yaml_are_listed() -> None:
    text = """\
# comment: no
%YAML 1.2
---
name: x
on:
  inner: 1
"quoted key" : 2
'it''s': 3
text: |
  not: this
-dash: 4
url: http://x
# no: this
not a key
- item: 1
-
  more
--- # second\r
other:\r
"""
    assert contents("x.yaml", text) == (
        "--- (line 3)|name (line 4)|on (line 5)|quoted key (line 7)|it''s (line 8)|text (line 9)|-dash (line 11)|"
        "url (line 12)|--- (line 18)|other (line 19)|2 items in a top-level list"
    )


def test_a_line_that_never_ends_takes_no_time() -> None:
    assert contents("x.yaml", "a" + " " * 1_000_000) == ""
    assert contents("x.md", "# a" + " " * 1_000_000 + "b") == "# a (line 1)"


def test_the_headings_of_markdown_are_listed_by_level() -> None:
    text = """\
# One #
text
Two
---
### Three
```py
# not this
~~~
```
~~~~
# nor this
~~~
~~~~
Setext
======
- item
---
#not a heading

#
    # code
## Four\r
"""
    assert contents("x.md", text) == (
        "# One (line 1)|  ## Two (line 3)|    ### Three (line 5)|# Setext (line 14)|#  (line 20)|  ## Four (line 22)"
    )
