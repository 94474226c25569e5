"""Read the request from stdin."""

from typing import Any, BinaryIO, cast

from marid.core.errors import BadInput
from marid.faces.json_input import parse_json, type_name

MAX_BYTES = 64 << 20


def read_object(stream: BinaryIO | None, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The JSON object on the stream, which is read to its end.

    Raises: BadInput for anything but exactly one JSON object in UTF-8 of at most `max_bytes`.
    """
    try:
        data = stream.read(max_bytes + 1) if stream is not None else b""
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read stdin: {error}") from error
    if len(data) > max_bytes:
        raise BadInput(f"stdin is larger than {max_bytes:,} bytes")
    if not data.strip():
        raise BadInput("stdin is empty; send one JSON object (--json-schema describes it)")
    try:
        value = parse_json(data.decode("utf-8-sig"), "stdin")
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8: {error.reason} at byte {error.start}") from error
    if not isinstance(value, dict):
        raise BadInput(f"stdin must be one JSON object, not {type_name(value)}")
    return cast("dict[str, Any]", value)
