"""HTTP as it stands on the wire."""

from io import BytesIO

import pytest

from marid.core.errors import BadInput
from marid.testing.http1 import RawRequest, read_raw_request, response_head


def test_a_request_is_read_with_its_body() -> None:
    wire = BytesIO(b"POST /v1/x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n")
    headers = {"host": "a", "content-length": "3"}
    assert read_raw_request(wire) == RawRequest(method="POST", target="/v1/x?y=1", headers=headers, content=b"abc")
    assert read_raw_request(wire) == RawRequest(method="GET", target="/", headers={}, content=b"")
    assert read_raw_request(wire) is None


def test_a_body_may_come_in_chunks() -> None:
    wire = BytesIO(
        b"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
    )
    received = read_raw_request(wire)
    assert received
    assert received.content == b"abcde"
    assert wire.read() == b""


def test_a_line_that_breaks_off_is_the_end() -> None:
    assert read_raw_request(BytesIO(b"POST / HT")) is None


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01 hello\n",
        b"GET / SPDY/3\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
    ],
)
def test_what_is_no_http_is_bad_input(data: bytes) -> None:
    with pytest.raises(BadInput):
        read_raw_request(BytesIO(data))


def test_a_head_has_words_for_the_statuses_that_have_some() -> None:
    assert response_head(429, {"Retry-After": "1"}) == b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n\r\n"
    assert response_head(529, {}) == b"HTTP/1.1 529 \r\n\r\n"
