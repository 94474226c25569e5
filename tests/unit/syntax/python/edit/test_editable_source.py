import warnings

import pytest

from marid.core.errors import BadInput, Exhausted
from marid.syntax.python.edit.editable_source import (
    EditableSource,
    commonest_line_ending,
    encode_checked,
    leading_space,
    normalize_newlines,
    parse_source,
    read_source,
)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"x = 1\n", "utf-8"),
        ("x = 'é'\n".encode(), "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "utf-8"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\nx = '\xe9'\n", "cp1251"),
        (b"", "utf-8"),
    ],
)
def test_a_file_is_read_in_its_own_encoding_and_written_back_the_same(data: bytes, encoding: str) -> None:
    source = read_source(data)
    assert source.encoding == encoding
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a = 1\nx = '\xe9'\n", "line 2: these bytes are not utf-8"),
        (b"# coding: no-such-thing\n", "line 1: unknown encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "line 1: "),
        (b"# coding: hex\n", "no encoding of text"),
        (b"# coding: utf-16\nab", "line 2: these bytes are not utf-16"),
        (b"# coding: utf-16\nabc", "cannot be written back"),
        (b"# coding: utf-7\n+AGEAYg-\n", "cannot be written back"),
    ],
)
def test_bytes_that_python_would_not_read_are_an_error_that_says_why(data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_source(data)


def test_rows_end_where_python_ends_them_and_lines_only_at_line_feeds() -> None:
    source = EditableSource(text="a\rb\r\nc\x0c\u2028\x85d\ne")
    assert [source.row(at) for at in range(source.row_count)] == ["a\r", "b\r\n", "c\x0c\u2028\x85d\n", "e"]
    assert [source.line_number(start) for start in source.row_starts[:-1]] == [1, 1, 2, 3]
    assert source.rows(1, 3) == "b\r\nc\x0c\u2028\x85d\n"


def test_an_empty_text_has_no_rows() -> None:
    assert EditableSource(text="").row_count == 0
    assert EditableSource(text="\n").row_count == 1
    assert not EditableSource(text="").is_blank(0)


def test_columns_are_bytes_and_places_are_characters() -> None:
    source = EditableSource(text="x = 1\né, ü = '€', 2\n")
    node = parse_source(source).body[1]
    assert source.offset(node.end_lineno or 0, node.end_col_offset or 0) == len(source.text) - 1


def test_a_form_feed_starts_the_indentation_anew() -> None:
    source = EditableSource(text="  \x0c  x\n")
    assert source.indent(0) == "  "
    assert leading_space(source.row(0)) == "  \x0c  "


@pytest.mark.parametrize(
    ("text", "ending"),
    [("", None), ("a", None), ("a\nb", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\nc\r\n", "\n")],
)
def test_the_commonest_line_ending_is_the_files(text: str, ending: str | None) -> None:
    assert commonest_line_ending(text) == ending
    assert EditableSource(text=text).line_ending == (ending or "\n")


def test_plain_text_has_line_feeds_only() -> None:
    assert normalize_newlines("a\rb\r\nc\n") == "a\nb\nc\n"
    assert normalize_newlines("a\n") == "a\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\rb = 2\r\nc = (\n", "line 2: the file does not parse"),
        ("def f(:\n", "line 1: the file does not parse"),
        ("x = 1\n\n'''\n", "line 3: the file does not parse"),
        ("x = '\0'\n", "line 1: the file does not parse"),
        ("x = '\ud800'\n", "line 1: .* characters that no text file"),
        ("if x:\n", "line 1: "),
        ("(" * 1000 + ")" * 1000, "line 1: "),
    ],
)
def test_a_file_that_does_not_parse_is_an_error_with_the_line(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse_source(EditableSource(text=text))


def test_code_that_is_nested_too_deeply_is_too_much_and_no_crash() -> None:
    with pytest.raises(Exhausted, match="nested too deeply"):
        parse_source(EditableSource(text="-" * 100_000 + "1"))


def test_warnings_of_the_parser_do_not_leak() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_source(EditableSource(text="x = '\\d'\ny = 1if 2else 3\n"))


def test_a_result_that_does_not_parse_is_refused_with_its_line() -> None:
    with pytest.raises(BadInput, match="line 2: the result would not parse"):
        encode_checked(EditableSource(text="x\n"), "x\ny z\n")


def test_text_that_the_files_encoding_lacks_is_refused() -> None:
    with pytest.raises(BadInput, match=r"\\u20ac cannot be written in iso-8859-1"):
        encode_checked(read_source(b"# coding: latin-1\n"), "# coding: latin-1\nx = '€'\n")


def test_half_a_character_is_refused() -> None:
    with pytest.raises(BadInput, match=r"\\ud800 cannot be written in utf-8"):
        encode_checked(read_source(b"x\n"), "x = '\ud800'\n")


@pytest.mark.parametrize("text", ["# coding: latin-1\nx = 1\n", "# coding: utf-7\nx = 1\n"])
def test_a_change_cannot_change_the_encoding(text: str) -> None:
    with pytest.raises(BadInput, match="encoding"):
        encode_checked(read_source(b"x = 1\n"), text)
