"""Requests read from a connection and the head of an answer, as HTTP/1.1 writes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, parse_headers
from typing import BinaryIO

from marid.core.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    """A request as it stood on the wire."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes


def read_raw_request(wire: BinaryIO) -> RawRequest | None:
    """The next request of a connection; None when the other side has ended it.

    Raises: BadInput when what comes is no HTTP.
    """
    line = wire.readline(65537)
    if not line.endswith(b"\n"):
        return None
    words = line.decode("latin-1").split()
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadInput("the request line is not one of HTTP/1.1")
    try:
        fields = {name.lower(): value for name, value in parse_headers(wire).items()}
        return RawRequest(method=words[0], target=words[1], headers=fields, content=_content(wire, fields))
    except (HTTPException, ValueError) as error:
        raise BadInput(f"the request is not HTTP: {error}") from error


def response_head(status: int, headers: Mapping[str, str]) -> bytes:
    """The status line and headers of an answer; a status that nobody knows has no words."""
    known = {entry.value: entry.phrase for entry in HTTPStatus}
    lines = [f"HTTP/1.1 {status} {known.get(status, '')}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _content(wire: BinaryIO, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return _chunks(wire)
    return wire.read(int(headers.get("content-length", "0")))


def _chunks(wire: BinaryIO) -> bytes:
    content = b""
    while size := int(wire.readline().partition(b";")[0], 16):
        content += wire.read(size)
        wire.readline()
    while wire.readline().strip():  # trailers
        pass
    return content
