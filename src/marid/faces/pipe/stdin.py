"""What comes in: one JSON object, and nothing that two readers could understand differently."""

import json
import math
from typing import Any, BinaryIO, NoReturn, cast

from marid.core.errors import BadInput
from marid.faces.pipe.schema_check import type_name

MAX_BYTES = 64 << 20
MAX_DEPTH = 100


def read_object(stream: BinaryIO | None, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The object on the stream, which is read to its end.

    Raises: BadInput for what is no UTF-8, too large, nested too deeply, or not exactly one JSON object; for a name that
    an object has twice, and for numbers and characters that JSON does not know.
    """
    try:
        data = stream.read(max_bytes + 1) if stream is not None else b""
    except (OSError, ValueError) as error:
        raise BadInput(f"stdin cannot be read: {error}") from error
    if len(data) > max_bytes:
        raise BadInput(f"stdin holds more than {max_bytes:,} bytes")
    if not data.strip():
        raise BadInput("stdin is empty: it should hold one JSON object (--json-schema describes it)")
    value = _decode_json(data)
    if not isinstance(value, dict):
        raise BadInput(f"stdin should hold one JSON object, not {type_name(value)}")
    return cast("dict[str, Any]", value)


def _decode_json(data: bytes) -> object:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8: {error.reason} at byte {error.start}") from error
    return parse_json(text, "stdin")


def parse_json(text: str, what: str) -> object:
    """The value of a JSON text. Raises: BadInput, which says what is wrong with `what`."""
    try:
        value = json.loads(
            text, object_pairs_hook=_reject_duplicate_keys, parse_constant=_reject_constant, parse_float=_parse_finite
        )
        # Half of a character, which JSON can spell and nothing that leaves again can hold.
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise BadInput(f"{what} is nested too deeply") from error
    except UnicodeEncodeError as error:
        raise BadInput(f"{what} holds half of a surrogate pair") from error
    except ValueError as error:
        raise BadInput(f"{what} is no JSON: {error}") from error
    if _depth(value) > MAX_DEPTH:
        raise BadInput(f"{what} is nested too deeply")
    return value


def _depth(value: object) -> int:
    """Counted level by level: whatever could be parsed can be counted."""
    depth = 0
    level = [value]
    while level := [child for one in level for child in _children(one)]:
        depth += 1
    return depth


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{twice[:100]}' is given twice in one object")
    return found


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _parse_finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:40]} is too large for a number")
    return number
