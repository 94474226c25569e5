import ast
import codecs
import warnings
from time import process_time

import pytest

from marid.core.errors import BadInput, Exhausted
from marid.syntax.python.scopes import definitions
from marid.syntax.python.source import (
    DefinitionNode,
    PythonSource,
    SyntaxProblem,
    commonest_line_ending,
    leading_space,
    parse_text,
    py_syntax_problem,
    read_source,
)


def of(text: str) -> PythonSource:
    return PythonSource(text=text, tree=ast.Module(body=[], type_ignores=[]))


def only(code: str) -> tuple[PythonSource, DefinitionNode]:
    source = read_source(code.encode())
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
    with pytest.raises(Exhausted, match="nested too deeply"):
        py_syntax_problem(bomb)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"x = 1\n\ndef f(:\n    pass\n", "line 3, column 7: "),
        (b"a\nb = = c\n", "line 2, column 5: "),
        (b"a = 1\rb = 2\r\nc = (\n", "line 2, column 5: "),
        (b"x = 1\n\n'''\n", "line 3, column 1: "),
        (b"if x:\n", "line 1"),
        (b"if x:\nx\n", "line 2, column 1: "),
        (b"\tx = (\n", "line 1"),
        (b"x = " + b"1" * 5000 + b"\n", "line 1"),
        (b"x = 1\n\x00\n", "line 2: null byte"),
        (b"a\nb = '\xff'\n", "line 2: not UTF-8, and no encoding is declared"),
        (b"# coding: nonesuch\n", "line 1: unknown encoding 'nonesuch'"),
        (b"# coding: hex\n", "line 1: unknown encoding 'hex'"),
        (b"# coding: ascii\n\n'\xff'\n", "line 3: not valid ascii"),
        (b"# coding: utf-16\nab", "line 2: not valid utf-16"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "line 1: declared as latin-1"),
        (b"# coding: unicode_escape\n'\\ud800'\n", "line 1: contains characters that no text file can contain"),
        (b"# coding: punycode\n'\xff'-\xff", "line 2: not valid punycode"),
    ],
)
def test_a_file_that_does_not_parse_names_its_line(code: bytes, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_source(code)
    assert str(caught.value).startswith(message)
    problem = py_syntax_problem(code)
    assert isinstance(problem, SyntaxProblem)
    assert str(problem) == str(caught.value)
    assert not problem.message.startswith("line")


def test_a_file_that_parses_has_no_problem() -> None:
    assert py_syntax_problem(b"") is py_syntax_problem(b"async def f(): await x\n") is None


def test_warnings_of_the_parser_do_not_leak() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_text("x = '\\d' is 1\ny = 1if 2else 3\n").body


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("x = 'é'\n".encode(), "x = 'é'\n", "utf-8"),
        (codecs.BOM_UTF8 + b"x = 1\n", "x = 1\n", "utf-8"),
        (codecs.BOM_UTF8 + b"# coding: UTF_8\n", "# coding: UTF_8\n", "utf-8"),
        (b"#!/bin/sh\n# -*- coding: latin-1 -*-\n'\xe9'\n", "#!/bin/sh\n# -*- coding: latin-1 -*-\n'é'\n", "latin-1"),
        (b"x = 1\n# coding: latin-1\n'\xc3\xa9'\n", "x = 1\n# coding: latin-1\n'é'\n", "utf-8"),
        (b"# coding: cp1252\r\n'\x80'\r\n", "# coding: cp1252\r\n'€'\r\n", "cp1252"),
    ],
)
def test_a_file_is_read_in_its_own_encoding_and_written_back_the_same(data: bytes, text: str, encoding: str) -> None:
    source = read_source(data)
    assert (source.text, source.encoding) == (text, encoding)
    assert source.encode(text) == data


@pytest.mark.parametrize(
    ("data", "text", "message"),
    [
        (b"x\n", "x\ny z\n", "the result would not parse: line 2, column 3: "),
        (b"# coding: latin-1\n", "# coding: latin-1\nx = '€'\n", r"latin-1 cannot encode \\u20ac"),
        (b"x\n", "x = '\ud800'\n", r"utf-8 cannot encode \\ud800"),
        (b"x = 1\n", "# coding: latin-1\nx = 1\n", "the declaration of the file's encoding"),
        (b"x = 1\n", "# coding: utf-7\nx = 1\n", "the declaration of the file's encoding"),
        (b"x = 1\n", "# coding: nonesuch\nx = 1\n", "the result would not parse: line 1: unknown encoding"),
        (b"# coding: utf-7\n+AGEAYg-\n", "# coding: utf-7\nx\n", "cannot be written back unchanged"),
    ],
)
def test_a_text_that_the_file_cannot_take_is_refused(data: bytes, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_source(data).encode(text)


def test_rows_end_where_python_ends_them_and_lines_only_at_line_feeds() -> None:
    source = of("a\rb\r\nc\x0c\u2028\x85d\ne")
    assert [source.row(at) for at in range(source.row_count)] == ["a\r", "b\r\n", "c\x0c\u2028\x85d\n", "e"]
    assert [source.line_number(start) for start in source.row_starts[:-1]] == [1, 1, 2, 3]
    assert [source.line_of_row(row) for row in range(source.row_count)] == [1, 1, 2, 3]
    assert source.rows(1, 3) == "b\r\nc\x0c\u2028\x85d\n"


def test_a_lone_carriage_return_ends_no_line_of_ours() -> None:
    source = read_source(b"a = 1\rb = 2\r\nc = 3\n\rd = 4\n")
    assert [source.line_span(node) for node in source.tree.body] == [(1, 1), (1, 1), (2, 2), (3, 3)]


def test_lines_are_found_in_a_time_that_grows_with_the_file() -> None:
    """The defect: each position counted the line ends before it again, which took 40 seconds for 1.8 MB."""
    source = read_source(b"a = 1\r" + b"x = 1\n" * 200_000)
    start = process_time()
    assert [source.line_of_row(row) for row in range(source.row_count)][-1] == 200_000
    assert process_time() - start < 3


def test_columns_are_bytes_and_offsets_are_characters() -> None:
    source = read_source("x = 1\né, ü = '€', 2\n".encode())
    assert source.end(source.tree.body[1]) == len(source.text) - 1


def test_a_form_feed_resets_the_indentation() -> None:
    source = of("  \x0c  x\n")
    assert source.indent(0) == "  "
    assert leading_space(source.row(0)) == "  \x0c  "


@pytest.mark.parametrize(
    ("text", "ending"),
    [("", None), ("a", None), ("a\nb", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\nc\r\n", "\n")],
)
def test_the_commonest_line_ending_is_the_files(text: str, ending: str | None) -> None:
    assert commonest_line_ending(text) == ending
    assert of(text).line_ending == (ending or "\n")


def test_spans_begin_at_the_sign_of_the_first_decorator() -> None:
    source, node = only("x = 1\n@(  # not @this\n  a\n)\n@b\ndef f():\n    return 1\n")
    assert source.line_span(node) == (2, 7)
    assert source.text[source.start_with_decorators(node) :].startswith("@(")


@pytest.mark.parametrize(
    "header",
    [
        "def f():",
        "async def f(a, /, b: int = 3, *args: str, c=lambda: 1, **kw) -> dict[1:2]:",
        "def f(a=':', b='(#'):",
        "def f(a: 'x:y' = {1: 2}) -> (lambda: 1):",
        "def f() -> lambda: 1:",
        "def f(  # a comment: with a colon\n    a,  # another: one\n    # and: a third\n):",
        "def f(é='ü:', ö=1):",
        "def f(a, /):",
        "def \\\n    f \\\n    ( ) :",
        "class A:",
        "class A():",
        "class A(B, metaclass=C[1:2]):",
        "class A(B, *c, **d):",
    ],
)
@pytest.mark.parametrize("body", [" pass\n", "  # x: y\n    pass\n"])
def test_a_header_runs_from_its_keyword_to_its_colon(header: str, body: str) -> None:
    source, node = only(f"@x(':')\n{header}{body}")
    start, end = source.header_span(node)
    assert source.text[start:end] == header


@pytest.mark.parametrize(
    ("code", "signature"),
    [
        ("def f(): return {1: 2}", "def f()"),
        ("async  def f(a, /, *, b: int = 3) -> 'x:y': ...", "async  def f(a, /, *, b: int = 3) -> 'x:y'"),
        ("def f(\n    a=lambda: 1,\n    b={1: 2},\n) -> None:\n    pass", "def f(a=lambda: 1, b={1: 2}) -> None"),
        ("def f(  # why: because\n    a,\n):\n    pass", "def f(a)"),
        ("def f(a='#',  # b\n      c=1): pass", "def f(a='#', c=1)"),
        ("def f ( # a: b\n ) : pass", "def f ()"),
        ("def f(s='( '): pass", "def f(s='( ')"),
        ("def f(*args: int, **more: str): pass", "def f(*args: int, **more: str)"),
        ("class A: x: int = 1", "class A"),
        ("class A(B, metaclass=C[int], ): pass", "class A(B, metaclass=C[int], )"),
        ("class A(\r\n    B,\r\n):\r\n    pass", "class A(B)"),
        ("def f(a) \\\n    -> int: pass", "def f(a) -> int"),
    ],
)
def test_a_signature_ends_before_its_colon(code: str, signature: str) -> None:
    source, node = only(code)
    assert source.signature(node) == signature
