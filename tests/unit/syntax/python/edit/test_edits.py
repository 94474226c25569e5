from collections.abc import Callable

import pytest

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.syntax.python.edit.edits import (
    PythonExcerpt,
    find_declaration,
    find_definition,
    find_signature,
    remove_definition,
    set_declaration,
    set_signature,
    update_definition,
    wrap_region,
)

CODE = '''\
"""Doc."""
import os

LIMIT = 3  # most
a = 1; b = 2; c = 3


# about A
class A:
    """A."""

    x: int = 1

    @property
    def f(self):
        """F
        more."""
        return 1

    async def g(self, a, *, b=':'):
        return """
  def f(self): pass
"""


def h(): pass


if os:
    def only():
        pass
'''


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def test_only_the_lines_of_the_definition_are_replaced() -> None:
    edited = update_definition(CODE.encode(), "A.f", "@cached\ndef f(self):\n    return 2\n\n")
    old = CODE[CODE.index("    @property") : CODE.index("\n    async")]
    assert edited.data.decode() == CODE.replace(old, "    @cached\n    def f(self):\n        return 2\n")
    assert (edited.first_line, edited.last_line) == (14, 16)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_mark_stay(mark: bytes) -> None:
    edited = update_definition(mark + crlf(CODE), "h", "def h():\n    return 1\n")
    assert edited.data == mark + crlf(CODE.replace("def h(): pass", "def h():\n    return 1"))


def test_a_definition_in_other_line_endings_than_its_file_keeps_them() -> None:
    data = b"x = 1\ny = 2\n\ndef f():\r\n    pass\r\nz = 3\nw = 4\n"
    assert update_definition(data, "f", "def f():\n    a\n    b").data == data.replace(b"pass", b"a\r\n    b")
    assert update_definition(data, "f", "def f():\n    pass").data == data


@pytest.mark.parametrize(
    ("text", "content", "result"),
    [
        ("class A:\n  def f(self):\n    pass", "def f(self):\n\treturn 1", "class A:\n  def f(self):\n    return 1"),
        ("class A:\n\tdef f(self):\n\t\tpass\n", "def f(self):\n  x", "class A:\n\tdef f(self):\n\t\tx\n"),
        ("def f():\n\tpass\ndef g():\n    pass\n", "def g():\n  x", "def f():\n\tpass\ndef g():\n    x\n"),
        ("def f(): pass", "def f():\n  x\n", "def f():\n  x"),
    ],
)
def test_new_code_takes_the_indentation_of_the_file(text: str, content: str, result: str) -> None:
    name = "A.f" if "class" in text else "g" if "g" in text else "f"
    assert update_definition(text.encode(), name, content).data.decode() == result


def test_the_same_text_changes_nothing_however_it_is_laid_out() -> None:
    data = b"class A:\r   def f(self):\r\n         x\n\n         y\r\n   z = 1"
    for text in ("   def f(self):\r\n         x\n\n         y\r\n", "   def f(self):\n         x\n\n         y"):
        edited = update_definition(data, "A.f", text)
        assert (edited.data, edited.first_line, edited.last_line) == (data, 1, 4)


def test_a_definition_may_become_another_or_several() -> None:
    assert update_definition(b"def f(): pass\n", "f", "x = 1\n\ndef g(): pass\n# end").data == (
        b"x = 1\n\ndef g(): pass\n# end\n"
    )


def test_letters_beyond_ascii_do_not_shift_anything() -> None:
    data = "ä = 'ö€😀'; ü = 1\nclass É:\n    def é(self, ß='ü:'): return '😀'  # ende\n".encode()
    assert set_signature(data, "É.é", "def é(self)").data == data.replace("self, ß='ü:'".encode(), b"self")
    assert set_declaration(data, "ü", "ü = 2").data == data.replace("ü = 1".encode(), "ü = 2".encode())


def test_another_encoding_is_kept() -> None:
    data = b"# coding: latin-1\nx = '\xe9'\ndef f(): pass\n"
    assert update_definition(data, "f", "def f(): return 'ü'").data == data.replace(b"pass", b"return '\xfc'")
    with pytest.raises(BadInput, match="latin-1 cannot encode"):
        update_definition(data, "f", "def f(): return '€'")


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("h", " \n", BadInput, "new_content is empty; py_remove_def"),
        ("h", "# only a comment", BadInput, "defines nothing"),
        ("h", "as before", BadInput, "line 1 of the new code"),
        ("h", "unchanged", BadInput, "defines nothing"),
        ("h", "def h(:", BadInput, "line 1 of the new code"),
        ("h", "def h():\n    '\ud800'", BadInput, "line 1 of the new code"),
        ("hh", "def h(): 1", NotFound, "did you mean .*h"),
    ],
)
def test_what_cannot_replace_a_definition_is_refused(
    name: str, content: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        update_definition(CODE.encode(), name, content)


def test_a_result_that_would_not_parse_is_refused() -> None:
    data = b"class A: \\\n  x = 1\ndef f(): pass\n"
    with pytest.raises(BadInput, match="the result would not parse: line 3"):
        set_declaration(data, "A.x", "x = 1\ny = 2")


def test_a_file_that_does_not_parse_is_an_error_with_the_line() -> None:
    for edit in (update_definition, set_signature, set_declaration):
        with pytest.raises(BadInput, match="line 2"):
            edit(b"x = 1\ndef f(:\n", "f", "def f(): pass")
    with pytest.raises(BadInput, match="line 1"):
        remove_definition(b"def", "f")
    with pytest.raises(BadInput, match="line 1"):
        wrap_region(b"def", 1, 1, "x")


def test_a_signature_changes_and_the_body_stays() -> None:
    edited = set_signature(CODE.encode(), "A.g", "def g(self,\n      a) -> str")
    assert edited.data.decode() == CODE.replace("async def g(self, a, *, b=':'):", "def g(self,\n      a) -> str:")
    assert (edited.first_line, edited.last_line) == (20, 21)
    assert set_signature(CODE.encode(), "h", "def h(x):").data.decode() == CODE.replace("h():", "h(x):")
    assert set_signature(crlf(CODE), "A", "class A(\n    B,\n):").data == crlf(
        CODE.replace("class A:", "class A(\n    B,\n):")
    )


def test_the_same_signature_changes_nothing() -> None:
    data = b"class A:\n    def f(\r\n  self): pass\n"
    assert set_signature(data, "A.f", "def f(\n  self):\n").data == data


@pytest.mark.parametrize(
    ("name", "declaration", "old", "new"),
    [
        ("LIMIT", "LIMIT: int = 4", "LIMIT = 3  # most", "LIMIT: int = 4"),
        ("LIMIT", "LIMIT = [\n  4,\n]\n", "LIMIT = 3  # most", "LIMIT = [\n  4,\n]"),
        ("LIMIT", "LIMIT = 3  # most", "", ""),
        ("A.x", "x = 2; y = 3", "    x: int = 1", "    x = 2; y = 3"),
        ("a", "a = [1,\n2]", "a = 1;", "a = [1,\n2];"),
        ("b", " b = 4\n", "b = 2", "b = 4"),
        ("c", "c = '#'", "c = 3", "c = '#'"),
    ],
)
def test_a_variable_is_set_where_it_is_declared(name: str, declaration: str, old: str, new: str) -> None:
    assert set_declaration(CODE.encode(), name, declaration).data.decode() == CODE.replace(old, new)


@pytest.mark.parametrize(
    ("name", "declaration", "words"),
    [
        ("LIMIT", "", "new_declaration is empty"),
        ("LIMIT", "4", "assigns to no variable"),
        ("LIMIT", "LIMIT = ", "line 1 of the new code"),
        ("b", "b = ", "line 1 of the new declaration"),
        ("b", "b = 2  # swallows c", "give one assignment, without a comment"),
        ("b", "# x\nb = 2", "give one assignment"),
        ("b", "b = 1; d = 2", "give one assignment"),
        ("b", "if x:\n    b = 2", "give one assignment"),
        ("b", "f()", "give one assignment"),
    ],
)
def test_what_declares_no_variable_is_refused(name: str, declaration: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        set_declaration(CODE.encode(), name, declaration)


@pytest.mark.parametrize(
    ("text", "name", "result"),
    [
        ("x = 1\n\n\ndef f(): pass\n\n\ny = 2\n", "f", "x = 1\n\n\ny = 2\n"),
        ("x = 1\n\n\ndef f(): pass", "f", "x = 1\n"),
        ("x = 1\n\n\ndef f(): pass\n\n", "f", "x = 1\n\n"),
        ("def f(): pass\n\n\ny = 2\n", "f", "y = 2\n"),
        ("def f(): pass\n", "f", ""),
        ("class A:\n    def f(self): pass\n\n    def g(self): pass\n", "A.f", "class A:\n    def g(self): pass\n"),
        ("class A:\n    x = 1\n\n    def f(self): pass\n\n\ny = 1\n", "A.f", "class A:\n    x = 1\n\n\ny = 1\n"),
        (
            "class A:\n    x = 1\n\n\n    def f(self): pass\n\n    y = 1\n",
            "A.f",
            "class A:\n    x = 1\n\n\n    y = 1\n",
        ),
        ("class A:\n\t@d\n\tdef f(self): pass\n", "A.f", "class A:\n\tpass\n"),
        ("if x:\n  def f(): pass\nelse:\n  y", "f", "if x:\n  pass\nelse:\n  y"),
        ("x\n\n# note\n@d(\n)\n# more\ndef f(): pass\ny\n", "f", "x\n\n# note\ny\n"),
        ("try:\r\n  x\r\nfinally:\r\n  def f():\r\n    pass", "f", "try:\r\n  x\r\nfinally:\r\n  pass"),
    ],
)
def test_a_definition_is_removed_and_the_file_still_parses(text: str, name: str, result: str) -> None:
    assert remove_definition(text.encode(), name).data.decode() == result


@pytest.mark.parametrize(
    ("text", "first", "last", "result"),
    [
        ("a\nb\nc\n", 2, 2, "a\n#region R x\nb\n#endregion\nc\n"),
        ("a\nb", 2, 2, "a\n#region R x\nb\n#endregion"),
        ("if a:\r\n    b\r\n\r\nc", 2, 3, "if a:\r\n    #region R x\r\n    b\r\n\r\n    #endregion\r\nc"),
        ("if a:\r\n    b", 2, 2, "if a:\r\n    #region R x\r\n    b\r\n    #endregion"),
        ("\n\n", 1, 2, "#region R x\n\n\n#endregion\n"),
        ("x = [\n 1,\n 2]\n", 2, 2, "x = [\n #region R x\n 1,\n #endregion\n 2]\n"),
    ],
)
def test_a_region_is_put_around_lines(text: str, first: int, last: int, result: str) -> None:
    edited = wrap_region(text.encode(), first, last, " R x ")
    assert edited.data.decode() == result
    assert (edited.first_line, edited.last_line) == (first, last + 2)


@pytest.mark.parametrize(
    ("text", "first", "last", "name", "words"),
    [
        ("a\nb\n", 0, 1, "R", "not a range of this file, which has 2 lines"),
        ("a\nb\n", 2, 1, "R", "not a range"),
        ("a\nb\n", 1, 3, "R", "not a range"),
        ("", 1, 1, "R", "which has 0 lines"),
        ("a\n", 1, 1, " ", "region_name must be one line"),
        ("a\n", 1, 1, "R\nimport os", "region_name must be one line"),
        ("x = '''\na\nb'''\n", 2, 2, "R", "inside a string or statement"),
        ("x = 1 \\\n+ 2\n", 2, 2, "R", "inside a string or statement"),
        ("#!/x\n# coding: latin-1\na\n", 2, 3, "R", "declaration of the file's encoding"),
        ("#!/x\na\n", 1, 2, "R", "must stay first: start the region at line 2"),
        ("a\n", 1, 1, "coding: latin-1", "declaration of the file's encoding"),
    ],
)
def test_a_region_that_would_change_the_program_is_refused(
    text: str, first: int, last: int, name: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        wrap_region(text.encode(), first, last, name)


def test_a_region_in_code_that_is_nested_too_deeply_is_refused() -> None:
    deep = "x = " + "a." * 2000 + "a\n"
    with pytest.raises(Exhausted, match="nested too deeply"):
        wrap_region(deep.encode(), 1, 1, "R")


EXCERPTS = b"""\
LIMIT = 3  # most
a = 1; b = 2; c = [
    3,
]
class A: x = 1; y: int = 2
class B:
    total: int = (
        1
    )

    @d
    async def f(self, a,
                b): return a; \\
        b
"""


@pytest.mark.parametrize(
    ("name", "text", "first", "last"),
    [
        ("B.f", "    @d\n    async def f(self, a,\n                b): return a; \\\n        b\n", 11, 14),
        ("A", "class A: x = 1; y: int = 2\n", 5, 5),
    ],
)
def test_a_definition_is_its_whole_lines(name: str, text: str, first: int, last: int) -> None:
    found = find_definition(EXCERPTS, name)
    assert (found.text, found.first_line, found.last_line) == (text, first, last)


def test_a_signature_starts_at_its_keyword() -> None:
    found = find_signature(EXCERPTS, "B.f")
    assert (found.text, found.first_line, found.last_line) == ("async def f(self, a,\n                b):", 12, 13)
    assert find_signature(EXCERPTS, "A").text == "class A:"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("LIMIT", "LIMIT = 3  # most\n"),
        ("a", "a = 1"),
        ("b", "b = 2"),
        ("c", "c = [\n    3,\n]"),
        ("A.x", "x = 1"),
        ("A.y", "y: int = 2"),
        ("B.total", "    total: int = (\n        1\n    )\n"),
    ],
)
def test_a_declaration_is_its_lines_or_what_it_has_of_them(name: str, text: str) -> None:
    assert find_declaration(EXCERPTS, name).text == text


@pytest.mark.parametrize("ending", [b"\r\n", b"\r", b"\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_line_ending_and_a_mark_are_understood(ending: bytes, mark: bytes) -> None:
    data = mark + b"x = '\xc3\xa9'\n\ndef f():\n\treturn 1\n\ndef g(): pass".replace(b"\n", ending)
    assert find_definition(data, "f").text.encode() == b"def f():\n\treturn 1\n".replace(b"\n", ending)
    assert find_definition(data, "g").text == "def g(): pass"


def test_mixed_line_endings_and_form_feeds_do_not_shift_lines() -> None:
    data = b"a = 1\r\n\x0c\nb = '''\x0b\x0c\xe2\x80\xa8'''\rc = 3\n\x0cdef f():\r\n    pass\r\n# end\n"
    found = find_definition(data, "f")
    assert (found.text, found.first_line, found.last_line) == ("\x0cdef f():\r\n    pass\r\n", 4, 5)
    assert find_declaration(data, "c").text == "c = 3\n"


@pytest.mark.parametrize("find", [find_definition, find_signature, find_declaration])
def test_what_cannot_be_read_or_found_is_an_error(find: Callable[[bytes, str], PythonExcerpt]) -> None:
    with pytest.raises(BadInput, match="line 2"):
        find(b"x = 1\ndef f(:\n", "f")
    with pytest.raises(BadInput, match="line 1: not UTF-8"):
        find(b"x = '\xff'", "f")
    with pytest.raises(NotFound, match="not defined"):
        find(b"", "f")


@pytest.mark.parametrize(
    ("given", "base", "result"),
    [
        ("def g(a)", "", "def g(a):"),
        ("  async def g(a):\n", "    ", "async def g(a):"),
        ("def g(\n    a,\n):", "    ", "def g(\n        a,\n    ):"),
        ("def g(\r\n        a,\r\n    ):", "    ", "def g(\n        a,\n    ):"),
        ("    def g(\n        a,\n    ):", "  ", "def g(\n      a,\n  ):"),
        ("def g(\n    a='''\nx''',\n\n):", "  ", "def g(\n      a='''\nx''',\n\n  ):"),
    ],
)
def test_a_new_head_is_made_to_fit(given: str, base: str, result: str) -> None:
    data = f"if x:\n{base or ' '}def f(): pass\n".removeprefix("" if base else "if x:\n ")
    assert set_signature(data.encode(), "f", given).data.decode() == data.replace("def f():", result)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "line 1 of the new signature"),
        ("def f(:", "line 1 of the new signature"),
        ("x", "line 1 of the new signature"),
        ("if x:", "must be one line or more from 'def'"),
        ("def f(): pass\ndef g():", "must be one line or more"),
        ("def f(): return 1", "line 1 of the new signature|must"),
        ("@x\ndef f():", "must start with 'def'"),
        ("# x\ndef f():", "must start with 'def'"),
        ("class f:", "is a function; its signature cannot become that of a class"),
    ],
)
def test_an_invalid_header_is_bad_input(given: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        set_signature(b"def f(): pass\n", "f", given)


def test_a_class_stays_a_class() -> None:
    assert set_signature(b"class A: pass\n", "A", "class A(B)").data == b"class A(B): pass\n"
    with pytest.raises(BadInput, match=r"is a class; .* of a function"):
        set_signature(b"class A: pass\n", "A", "def A():")
