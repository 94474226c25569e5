import ast
import codecs

import pytest

from marid.core.errors import BadInput, Exhausted
from marid.syntax.python.scopes import definitions
from marid.syntax.python.source import PythonSource, decode_source, read_source


def only(code: bytes) -> tuple[PythonSource, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    source = read_source(code)
    (node,) = definitions(source.tree.body)
    return source, node


@pytest.mark.parametrize(
    "bomb",
    [b"-" * 100_000 + b"1", b"(" * 1000 + b")" * 1000, b"+".join([b"a"] * 100_000), b".".join([b"a"] * 100_000)],
    ids=["signs", "parentheses", "sums", "attributes"],
)
def test_nesting_beyond_the_parser_is_exhausted(bomb: bytes) -> None:
    with pytest.raises(Exhausted, match="nested too deeply"):
        read_source(bomb)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (b"x = 1\n\ndef f(:\n    pass\n", "line 3, column 7: "),
        (b"x = 1\n\x00\n", "line 2: a null byte"),
        (b"a\nb = '\xff'\n", "line 2: not UTF-8, and no other encoding is declared"),
        (b"# coding: nonesuch\n", "line 1: the declared encoding 'nonesuch' is not known"),
        (b"# coding: ascii\n\n'\xff'\n", "line 3: not valid ascii"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "line 1: declared as latin-1"),
        (b"# coding: unicode_escape\n'\\ud800'\n", "line 1: holds characters that no text has"),
        (b"# coding: punycode\n'\xff'-\xff", "line 2: not valid punycode"),
        (b"x = " + b"1" * 5000 + b"\n", "line 1"),
        (b"if x:\nx\n", "line 2, column 1: "),
        (b"\tx = (\n", "line 1"),
    ],
)
def test_a_file_that_does_not_parse_names_its_line(code: bytes, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_source(code)
    assert str(caught.value).startswith(words)


def test_a_warning_of_the_parser_is_not_ours() -> None:
    assert read_source(b"x = '\\d' is 1\n").tree.body


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (codecs.BOM_UTF8 + b"x = 1\n", "x = 1\n"),
        (codecs.BOM_UTF8 + b"# coding: UTF_8\n", "# coding: UTF_8\n"),
        (b"#!/bin/sh\n# -*- coding: latin-1 -*-\n'\xe9'\n", "#!/bin/sh\n# -*- coding: latin-1 -*-\n'é'\n"),
        (b"x = 1\n# coding: latin-1\n'\xc3\xa9'\n", "x = 1\n# coding: latin-1\n'é'\n"),
        (b"# coding: cp1252\r\n'\x80'\r\n", "# coding: cp1252\r\n'€'\r\n"),
    ],
)
def test_the_encoding_is_the_declared_one(data: bytes, text: str) -> None:
    assert decode_source(data) == text


def test_a_lone_carriage_return_ends_no_line_of_ours() -> None:
    source = read_source(b"a = 1\rb = 2\r\nc = 3\n\rd = 4\n")
    assert [source.line_span(node) for node in source.tree.body] == [(1, 1), (1, 1), (2, 2), (3, 3)]


def test_spans_begin_at_the_sign_of_the_first_decorator() -> None:
    source, node = only(b"x = 1\n@(\n  a\n)\n@b\ndef f():\n    return 1\n")
    assert source.line_span(node) == (2, 7)
    assert source.code[source.start_with_decorators(node) :].startswith(b"@(")


@pytest.mark.parametrize(
    ("code", "signature"),
    [
        (b"def f(): return {1: 2}", "def f()"),
        (b"async  def f(a, /, *, b: int = 3) -> 'x:y': ...", "async  def f(a, /, *, b: int = 3) -> 'x:y'"),
        (b"def f(\n    a=lambda: 1,\n    b={1: 2},\n) -> None:\n    pass", "def f(a=lambda: 1, b={1: 2}) -> None"),
        (b"def f(  # why: because\n    a,\n):\n    pass", "def f(a)"),
        (b"def f(a='#',  # b\n      c=1): pass", "def f(a='#', c=1)"),
        (b"def f ( # a: b\n ) : pass", "def f ()"),
        (b"def f(s='( '): pass", "def f(s='( ')"),
        (b"def f(*args: int, **more: str): pass", "def f(*args: int, **more: str)"),
        (b"class A: x: int = 1", "class A"),
        (b"class A(B, metaclass=C[int], ): pass", "class A(B, metaclass=C[int], )"),
        (b"class A(\r\n    B,\r\n):\r\n    pass", "class A(B)"),
        (b"def f(a) \\\n    -> int: pass", "def f(a) -> int"),
    ],
)
def test_a_signature_ends_before_its_colon(code: bytes, signature: str) -> None:
    source, node = only(code)
    assert source.signature(node) == signature
