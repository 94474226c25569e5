import ast

import pytest

from marid.core.errors import BadInput
from marid.syntax.python.edit.indentation import IndentStyle, analyze_rows, detect_style, parse_code, reindent
from marid.syntax.python.source import read_source

FOUR, TWO, TABS = IndentStyle(unit="    "), IndentStyle(unit="  "), IndentStyle(unit="\t")


def fit(content: str, base: str = "", into: IndentStyle | None = FOUR) -> str:
    return reindent(parse_code(content, base, into), base, into)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("def f():\n  if x:\n    y\n", "  "),
        ("class A:\n\tdef f(self):\n\t\tpass\n", "\t"),
        ("if x:\n    a\nelse:\n    b\nfor x in y:\n  c\nwhile x:\n    d\n", "    "),
        ("def f(): pass\nx = 1\n", None),
    ],
)
def test_the_unit_of_a_file_is_what_most_blocks_use(text: str, unit: str | None) -> None:
    source = read_source(text.encode())
    found = detect_style(source, source.tree)
    assert (found.unit if found else None) == unit


CONTENT = "def f():\n    # note\n    if x:\n        return 1\n    # end"


@pytest.mark.parametrize(
    ("base", "into", "result"),
    [
        ("", FOUR, CONTENT),
        ("", TWO, "def f():\n  # note\n  if x:\n    return 1\n  # end"),
        ("", TABS, "def f():\n\t# note\n\tif x:\n\t\treturn 1\n\t# end"),
        ("\t", TABS, "\tdef f():\n\t\t# note\n\t\tif x:\n\t\t\treturn 1\n\t\t# end"),
        ("  ", FOUR, "  def f():\n      # note\n      if x:\n          return 1\n      # end"),
        ("    ", None, "    def f():\n        # note\n        if x:\n            return 1\n        # end"),
    ],
)
def test_code_takes_the_style_of_the_place_it_lands_at(base: str, into: IndentStyle | None, result: str) -> None:
    assert fit(CONTENT, base, into) == result


def test_tabs_become_the_files_spaces_also_where_a_statement_goes_on() -> None:
    assert fit("def f(\n\t\ta):\n\treturn (\n\t\ta)", "", TWO) == "def f(\n    a):\n  return (\n    a)"


def test_code_that_is_indented_already_is_put_where_it_belongs() -> None:
    assert fit("        def f():\n            pass", "    ") == "    def f():\n        pass"
    assert fit("    @x\n    def f():\n        pass") == "@x\ndef f():\n    pass"


def test_code_whose_first_line_has_lost_its_indentation_is_understood() -> None:
    assert fit("@x\n    def f():\n        pass", "    ") == "    @x\n    def f():\n        pass"
    assert fit("def f():\n        if x:\n            y", "    ") == "    def f():\n        if x:\n            y"


def test_blank_lines_around_new_code_are_dropped_and_those_inside_kept() -> None:
    assert fit("\n  \ndef f():\n\n    pass\n\n\n", "    ") == "    def f():\n\n        pass"


def test_text_inside_strings_stays_where_it_is() -> None:
    content = 'def f():\n    x = """\n  a\n    b"""\n    y = \'c\\\n    d\'\n    return f"""{x}\n    z"""'
    assert fit(content, "    ") == (
        '    def f():\n        x = """\n  a\n    b"""\n        y = \'c\\\n    d\'\n        return f"""{x}\n    z"""'
    )


def test_a_docstring_follows_its_code() -> None:
    content = 'def f():\n    """A\n\n      b\n    """\n    class C:\n        r"""D\\\n        e"""'
    assert fit(content, "  ", TWO) == (
        '  def f():\n    """A\n\n      b\n    """\n    class C:\n      r"""D\\\n      e"""'
    )


def test_a_docstring_that_is_not_indented_with_its_code_stays() -> None:
    content = 'def f():\n    """A\nb\n    """'
    assert fit(content, "    ") == '    def f():\n        """A\nb\n    """'


def test_a_row_of_a_docstring_that_a_backslash_joins_stays_unless_it_is_the_first() -> None:
    assert fit('def f():\n    """\\\n    A\n    b\\\n    c"""', "    ") == (
        '    def f():\n        """\\\n        A\n        b\\\n    c"""'
    )


def test_rows_that_go_on_keep_their_distance() -> None:
    content = "x = f(a,\n      b)\ny = 1 + \\\n    2"
    assert fit(content, "    ") == "    x = f(a,\n          b)\n    y = 1 + \\\n        2"
    assert fit("    x = f(\n  a)") == "x = f(\na)"


def test_a_comment_that_stands_between_levels_stays_between_them() -> None:
    assert fit("if x:\n      # odd\n    y", "", TWO) == "if x:\n      # odd\n  y"
    assert fit("    if x:\n        y\n # left", "") == "if x:\n    y\n# left"


def test_irregular_steps_stay_if_the_usual_one_is_the_files() -> None:
    content = "def f():\n    if x:\n        if y:\n          z"
    assert fit(content, "    ") == "    def f():\n        if x:\n            if y:\n              z"


def test_steps_of_tabs_and_spaces_that_cannot_be_compared_are_made_regular() -> None:
    assert fit("if a:\n \tif b:\n\t  c") == "if a:\n    if b:\n        c"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the new code is empty"),
        (" \n\n", "the new code is empty"),
        ("def f(:\n    pass", "line 1 of the new code"),
        ("\n\ndef f():\n    x y", "line 4 of the new code"),
        ("    def f():\n        x y", "line 2 of the new code"),
        ("    def f(): pass\ndef g(): pass", "line 1 of the new code: its lines do not share"),
        ("x = '\0'", "line 1 of the new code"),
        ('"""', "line 1 of the new code"),
    ],
)
def test_code_that_does_not_parse_is_an_error_with_its_own_line(content: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        fit(content)


def test_a_first_comment_may_stand_anywhere() -> None:
    assert fit("    # note\ndef f(): pass", "  ") == "      # note\n  def f(): pass"


ROWS = '''\
# above
def f(a,
      b):
    # in the body
    """Doc
    more"""
    x = """a
b""" + (
    c)
    if x:
        y = 1
    # behind the block
'''


def test_each_row_is_what_it_is() -> None:
    made = analyze_rows(ROWS, ast.parse(ROWS))
    assert made.starts == {
        1: ("",),
        4: ("", "    "),
        6: ("", "    "),
        9: ("", "    "),
        10: ("", "    ", "        "),
    }
    assert made.comments == {0: ("",), 3: ("", "    "), 11: ("", "    ", "        ")}
    assert made.in_string == {5, 7}
    assert made.docstrings == {4: 5}


def test_a_docstring_of_several_strings_is_none_that_moves() -> None:
    text = 'def f():\n    "a" """b\n    c"""\n'
    assert analyze_rows(text, ast.parse(text)).docstrings == {}
