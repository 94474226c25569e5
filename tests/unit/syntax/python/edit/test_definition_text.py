from collections.abc import Callable

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.edits import PythonExcerpt, find_declaration, find_definition, find_signature, fit_header
from marid.syntax.python.source import DEFINITION_NODES, DefinitionNode, PythonSource, read_source

CODE = b"""\
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
    found = find_definition(CODE, name)
    assert (found.text, found.first_line, found.last_line) == (text, first, last)


def test_a_signature_starts_at_its_keyword() -> None:
    found = find_signature(CODE, "B.f")
    assert (found.text, found.first_line, found.last_line) == ("async def f(self, a,\n                b):", 12, 13)
    assert find_signature(CODE, "A").text == "class A:"


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
    assert find_declaration(CODE, name).text == text


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


def only(text: str) -> tuple[PythonSource, DefinitionNode]:
    source = read_source(text.encode())
    node = source.tree.body[0]
    assert isinstance(node, DEFINITION_NODES)
    return source, node


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
    assert fit_header(only("def f(): pass")[1], given, base) == result


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
        fit_header(only("def f(): pass")[1], given, "")


def test_a_class_stays_a_class() -> None:
    node = only("class A: pass")[1]
    assert fit_header(node, "class A(B)", "") == "class A(B):"
    with pytest.raises(BadInput, match=r"is a class; .* of a function"):
        fit_header(node, "def A():", "")
