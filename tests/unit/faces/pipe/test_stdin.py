import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.faces.pipe.stdin import read_object

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), values, max_size=4), st.booleans())
def test_every_object_is_read_as_it_is(value: dict[str, object], ascii_only: bool) -> None:
    assert read_object(io.BytesIO(json.dumps(value, ensure_ascii=ascii_only).encode())) == value


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert read_object(io.BytesIO(b'\xef\xbb\xbf{"a": 1}\n')) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff{}", "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b"{", "not valid JSON"),
        (b'{"a": 1} {"b": 2}', "not valid JSON"),
        (b"[1]", "not an array"),
        (b'"no_op"', "not a string"),
        (b"null", "not null"),
        (b"true", "not true or false"),
        (b"12", "number"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"a": {"b": 1, "b": 2}}', "duplicate key 'b'"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"a":' * 150 + b"1" + b"}" * 150, "nested too deeply"),
        (b'{"a": "\x01"}', "not valid JSON"),
    ],
)
def test_what_is_not_one_json_object_is_bad_input(data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_object(io.BytesIO(data))


def test_more_than_the_limit_is_not_taken() -> None:
    with pytest.raises(BadInput, match="larger than 9 bytes"):
        read_object(io.BytesIO(b'{"a": 123}'), max_bytes=9)
    assert read_object(io.BytesIO(b'{"a": 12}'), max_bytes=9) == {"a": 12}


def test_an_input_that_is_closed_is_bad_input() -> None:
    closed = io.BytesIO(b"{}")
    closed.close()
    with pytest.raises(BadInput, match="cannot read"):
        read_object(closed)
    with pytest.raises(BadInput, match="is empty"):
        read_object(None)
