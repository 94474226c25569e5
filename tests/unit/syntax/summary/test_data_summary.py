import pytest

from marid.syntax.summary.data_summary import json_lines, markdown_lines, record_lines, toml_lines, yaml_lines


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
    assert list(toml_lines(text)) == [
        "keys: title",
        "[a] one, two",
        "[a.b]",
        "[c.d.e.three] four",
        "[[people]] name",
    ]


def test_deep_tables_of_toml_are_not_followed_for_ever() -> None:
    assert list(toml_lines("a.b.c.d.e.f.g.h.i.j = 1")) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '{"a": 1, "b": {"c": 2, "d": 3}, "e": [1], "f": "s", "g": null, "h": true, "i": {}, "j": 1.5}',
            [
                "object with 8 keys",
                "  a: number",
                "  b: object (c, d)",
                "  e: array of 1",
                "  f: string",
                "  g: null",
                "  h: boolean",
                "  i: empty object",
                "  j: number",
            ],
        ),
        ('[{"a": 1}, 2]', ["array of 2, the first: object (a)", "  its keys: a"]),
        ("[1]", ["array of 1, the first: number"]),
        ("[]", ["array of 0"]),
        ("3", ["number"]),
    ],
)
def test_the_keys_of_json_are_listed_with_the_kinds_of_their_values(text: str, lines: list[str]) -> None:
    assert list(json_lines(text)) == lines


def test_many_or_long_keys_are_cut() -> None:
    many = "{" + ", ".join(f'"k{n}": 1' for n in range(300)) + "}"
    assert list(json_lines(many))[-1] == "  and 100 more"
    assert list(json_lines('{"' + "k" * 100 + '": 1}'))[1] == "  " + "k" * 79 + "…: number"


def test_one_record_speaks_for_all() -> None:
    assert list(record_lines('{"a": 1}\n\n{"b": 2}\n')) == [
        "2 records, one a line",
        "the first:",
        "object with 1 keys",
        "  a: number",
    ]
    assert list(record_lines("\n")) == ["0 records, one a line"]


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
    assert list(yaml_lines(text)) == [
        "--- (line 3)",
        "name (line 4)",
        "on (line 5)",
        "quoted key (line 7)",
        "it''s (line 8)",
        "text (line 9)",
        "-dash (line 11)",
        "url (line 12)",
        "--- (line 18)",
        "other (line 19)",
        "2 items in a top-level list",
    ]


def test_a_line_that_never_ends_takes_no_time() -> None:
    assert list(yaml_lines("a" + " " * 1_000_000)) == []
    assert list(markdown_lines("# a" + " " * 1_000_000 + "b")) == ["# a (line 1)"]


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
    assert list(markdown_lines(text)) == [
        "# One (line 1)",
        "  ## Two (line 3)",
        "    ### Three (line 5)",
        "# Setext (line 14)",
        "#  (line 20)",
        "  ## Four (line 22)",
    ]
