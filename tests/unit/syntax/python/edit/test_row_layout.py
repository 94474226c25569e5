import ast

from marid.syntax.python.edit.row_layout import analyze_rows, is_docstring

CODE = '''\
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
    made = analyze_rows(CODE, ast.parse(CODE))
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


def test_only_a_plain_string_is_a_docstring() -> None:
    nodes = ast.parse("'a'\nb'a'\nf'a'\n1\nx = 'a'").body
    assert [is_docstring(node) for node in nodes] == [True, False, False, False, False]
