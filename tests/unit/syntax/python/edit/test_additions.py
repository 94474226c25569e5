import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.additions import (
    AnchorType,
    InsertionAnchor,
    add_definition,
    extract_definition,
    move_definition,
)

MODULE = '''\
#!/usr/bin/env python
"""Doc."""
import os

X = 1


# about A
class A:
    """A."""

    y = 1

    def f(self):
        pass


def g():
    pass
'''


def add(text: str, name: str, kind: AnchorType = "bottom", symbol: str = "", content: str = "") -> str:
    content = content or f"def {name.rpartition('.')[2]}():\n    return 1\n"
    edited = add_definition(text.encode(), name, content, InsertionAnchor(kind=kind, symbol=symbol))
    lines = edited.data.decode().split("\n")
    assert f"def {name.rpartition('.')[2]}" in "\n".join(lines[edited.first_line - 1 : edited.last_line])
    return edited.data.decode()


NEW = "def n():\n    return 1\n"
INNER = "    def n():\n        return 1\n"


@pytest.mark.parametrize(
    ("name", "kind", "symbol", "before"),
    [
        ("n", "top", "", "X = 1"),
        ("n", "before", "X", "X = 1"),
        ("n", "after", "X", "# about A"),
        ("n", "before", "A", "# about A"),
        ("n", "after", "A", "def g"),
        ("n", "before", "g", "def g"),
    ],
)
def test_new_code_stands_before_what_it_should_with_blank_lines(
    name: str, kind: AnchorType, symbol: str, before: str
) -> None:
    result = add(MODULE, name, kind, symbol)
    assert result.replace(NEW, "").split() == MODULE.split()
    assert f"\n\n\n{NEW}\n\n{before}" in result


@pytest.mark.parametrize(
    ("kind", "symbol", "old", "new"),
    [
        ("top", "", "    y = 1", f"{INNER}\n    y = 1"),
        ("before", "A.f", "    def f", f"{INNER}\n    def f"),
        ("after", "y", "    y = 1\n", f"    y = 1\n\n{INNER}"),
        ("after", "f", "        pass\n\n\ndef g", f"        pass\n\n{INNER}\n\ndef g"),
        ("bottom", "", "        pass\n\n\ndef g", f"        pass\n\n{INNER}\n\ndef g"),
    ],
)
def test_new_code_in_a_class_is_indented_as_its_members(kind: AnchorType, symbol: str, old: str, new: str) -> None:
    assert add(MODULE, "A.n", kind, symbol) == MODULE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "name", "result"),
    [
        ("", "n", NEW),
        ("x = 1", "n", f"x = 1\n\n\n{NEW}"),
        ("# only a comment\n", "n", f"# only a comment\n\n\n{NEW}"),
        ("x = 1\n# end\n\n\n", "n", f"x = 1\n# end\n\n\n{NEW}\n\n"),
        ("class A:\n    pass\n", "A.n", f"class A:\n{INNER}"),
        ("class A: pass\n", "A.n", f"class A:\n{INNER}"),
        ("class A: pass  # why\n", "A.n", f"class A:\n    pass  # why\n\n{INNER}"),
        ("class A: x = 1; y = 2", "A.n", f"class A:\n    x = 1; y = 2\n\n{INNER}"),
        ("class A: \\\n  x = 1\nif b:\n    c\n", "A.n", f"class A:\n  x = 1\n\n{INNER}if b:\n    c\n"),
        ("class A:  # note: \\\n    x = 1\n", "A.n", f"class A:  # note:\n    x = 1\n\n{INNER}"),
        ("class A:\n  x = 1\n", "A.n", "class A:\n  x = 1\n\n  def n():\n    return 1\n"),
        ("class A:\n\tx = 1\n", "A.n", "class A:\n\tx = 1\n\n\tdef n():\n\t\treturn 1\n"),
        ("def A():\n    def B(): pass\n", "A.n", f"def A():\n    def B(): pass\n\n{INNER}"),
    ],
)
def test_new_code_finds_its_place_in_any_file(text: str, name: str, result: str) -> None:
    made = add(text, name)
    if "\\" in text and "note" not in text:
        result = result.replace("  x = 1", "    x = 1")
    assert made == result


def test_the_top_is_behind_the_docstring_the_imports_and_what_shares_their_row() -> None:
    assert add("'doc'; import a; x = 1\ny = 2\n", "n", "top") == f"'doc'; import a; x = 1\n\n\n{NEW}\n\ny = 2\n"
    assert add("class A:\n    'doc'\n    import x\n", "A.n", "top") == f"class A:\n    'doc'\n\n{INNER}\n    import x\n"


def test_new_code_takes_the_line_ending_of_the_file_or_its_own() -> None:
    assert add("x = 1\r\n", "n").replace("\r\n", "") == "x = 1def n():    return 1"
    assert add("", "n", content="def n():\r\n    return 1").endswith("n():\r\n    return 1\r\n")
    assert add("x = 1", "n", content="def n():\r\n    return 1") == "x = 1\r\n\r\n\r\ndef n():\r\n    return 1\r\n"


def test_code_beside_an_anchor_inside_a_block_stands_in_that_block() -> None:
    text = "if x:\n    def f(): pass\nelse: y = 1\n"
    assert add(text, "n", "after", "f") == f"if x:\n    def f(): pass\n\n{INNER}else: y = 1\n"
    assert add(text, "n", "before", "y") == f"if x:\n    def f(): pass\nelse:\n{INNER}\n    y = 1\n"


def test_an_overload_or_a_setter_may_join_what_has_its_name() -> None:
    text = "class A:\n    @property\n    def f(self): ...\n\n    def g(self): ...\n"
    content = "@f.setter\ndef f(self, x): ..."
    made = add(text, "A.f", "after", "f", content)
    assert made == text.replace("\n\n", "\n\n    @f.setter\n    def f(self, x): ...\n\n")
    assert "def n(x): 3" in add("@overload\ndef n(): 1\n@overload\ndef n(x): 2\n", "n", content="def n(x): 3")


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("g", "def g(): 1", BadInput, "'g' is already defined there"),
        ("n", "def m(): 1\nclass B: 1", BadInput, "must define 'n'; it defines 'm', 'B'"),
        ("n", "x = 1", BadInput, "must define 'n'; it defines no function or class"),
        ("n", " ", BadInput, "the new code is empty"),
        ("n@3", "def n(): 1", BadInput, "without a line"),
        ("B.n", "def n(): 1", NotFound, "'B' is not defined"),
    ],
)
def test_what_cannot_be_added_is_refused(name: str, content: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        add(MODULE, name, content=content)


def test_new_code_cannot_declare_an_encoding() -> None:
    coding = "# coding: latin-1\ndef n(): 1"
    assert coding in add(MODULE, "n", "before", "X", coding)
    with pytest.raises(BadInput, match="encoding"):
        add("", "n", "top", content=coding)


def test_a_definition_that_is_taken_has_its_new_name() -> None:
    taken = extract_definition(MODULE.encode(), "A.f", "renamed")
    assert taken.text == "    def renamed(self):\n        pass\n"
    assert taken.first_line == 14
    assert b"def f" not in taken.rest.data


def move(text: str, name: str, dest: str, kind: AnchorType = "bottom", symbol: str = "") -> str:
    return move_definition(text.encode(), name, dest, InsertionAnchor(kind=kind, symbol=symbol)).data.decode()


def test_a_method_moves_out_of_its_class_and_in_again() -> None:
    out = move(MODULE, "A.f", "f", "before", "g")
    assert "    y = 1\n\n\ndef f(self):\n    pass\n\n\ndef g" in out
    assert move(out, "f", "A.f", "after", "y") == MODULE


def test_a_function_that_is_alone_in_its_block_leaves_pass_and_comes_back() -> None:
    text = "class A:\n    def f(self):\n        '''Doc\n        more'''\n"
    out = move(text, "A.f", "g")
    assert out == "class A:\n    pass\n\n\ndef g(self):\n    '''Doc\n    more'''\n"
    assert move(out, "g", "A.f") == text


def test_a_line_in_an_anchor_is_a_line_of_the_file_as_it_was() -> None:
    text = "def f():\n    1\n@x\ndef g(): 1\ny = 1\n@x\ndef g(): 2\n"
    assert move(text, "f", "f", "before", "g@6").index("def f") > text.index("y = 1") - 13
    assert move(text, "g@6", "h", "after", "g@3").startswith("def f():\n    1\n@x\ndef g(): 1\n@x\ndef h(): 2\n")


@pytest.mark.parametrize(
    ("name", "dest", "error", "words"),
    [
        ("A", "A.B", BadInput, "cannot be moved into itself"),
        ("A", "A.f.x", BadInput, "cannot be moved into itself"),
        ("g", "A.f", BadInput, "already defined"),
        ("gg", "h", NotFound, "did you mean .*g"),
        ("g", "B.g", NotFound, "'B' is not defined"),
    ],
)
def test_a_move_that_cannot_be_is_refused(name: str, dest: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        move(MODULE, name, dest)


def test_a_definition_cannot_stand_beside_itself() -> None:
    with pytest.raises(NotFound, match="anchor: 'g' is not defined"):
        move(MODULE, "g", "g", "after", "g")


OVERLOADS = (
    "X = 1\nclass A:\n    y = 1\n    @p\n    def f(self): 1\n    @f.setter\n    def f(self): 2\n    def g(self): 3\n"
)


@pytest.mark.parametrize(
    ("text", "name", "symbol", "error", "words"),
    [
        (OVERLOADS, "n", "", BadInput, "anchor_symbol is needed"),
        (OVERLOADS, "n", "A.f", BadInput, "not at the top of the module"),
        (OVERLOADS, "A.n", "B.f", BadInput, "not in 'A'"),
        (OVERLOADS, "n", "a", NotFound, "did you mean 'A"),
        (OVERLOADS, "A.n", "ff", NotFound, r"did you mean 'A\.f"),
        (OVERLOADS, "A.n", "f@1", NotFound, r"anchor: 'A\.f' is not at line 1"),
        (OVERLOADS, "n", "a b", BadInput, "not a dotted name"),
        ("def f(): 1\nx = 1\ndef f(): 2\n", "n", "f", BadInput, "ambiguous"),
        ("if x:\n    def f(): 1\nelse:\n    def f(): 2\n", "n", "f", BadInput, "ambiguous"),
    ],
)
def test_an_anchor_must_be_one_place_in_the_scope(
    text: str, name: str, symbol: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        add(text, name, "after", symbol)


@pytest.mark.parametrize(
    ("kind", "symbol", "above", "gaps", "below"),
    [
        # Comments belong to the code that they are indented like, or that is below them.
        ("after", "f", "def f():\n    1\n    # end of f\n", (2, 2), "# on g\n\n\ndef g(): 2\n"),
        ("before", "f", "x = 1\n\n", (0, 1), "# on f\n# more\ndef f(): 1\n"),
        ("before", "f", "x = 1\n#endregion\n\n", (0, 1), "def f(): 1\n"),
        ("before", "f", "#!/bin/python\n# licence\n", (2, 2), "def f(): 1\n"),
        ("before", "f", 'x = """\n# a\n# b"""\n', (0, 0), "def f(): 1\n"),
        # Statements on one line stay together.
        ("after", "a", "a = 1; b = 2\n\n\n", (0, 2), "def f(): 1\n"),
        ("before", "b", "", (0, 2), "a = 1; b = 2\n\n\ndef f(): 1\n"),
        # The gap is that of most definitions.
        ("bottom", "", "x = 1\n\n\n\ny = 2\n", (2, 0), ""),
        ("bottom", "", "def f(): 1\ndef g(): 2\ndef h(): 3\n", (0, 0), ""),
        ("bottom", "", "def f(): 1\n\ndef g(): 2\n\n# note\n\ndef h(): 3\n\nx = 1\n", (1, 0), ""),
        ("before", "f", "", (0, 2), "def f(): 1\n"),
    ],
)
def test_new_code_stays_apart_as_its_neighbours_do(
    kind: AnchorType, symbol: str, above: str, gaps: tuple[int, int], below: str
) -> None:
    made = add(above + below, "n", kind, symbol)
    assert made == above + "\n" * gaps[0] + NEW + "\n" * gaps[1] + below
