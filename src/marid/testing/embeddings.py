"""Vectors made of words: texts that share words are near each other, equal texts have equal vectors."""

import base64
import hashlib
import math
import re
import struct
from collections.abc import Sequence
from typing import Any, cast

from marid.testing.request import Request
from marid.text.json_values import as_object, as_objects


def vector(text: str, dimensions: int) -> list[float]:
    """A vector of length one; a text without words gets one too."""
    total = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = hashlib.shake_256(word.encode("utf-8", "surrogatepass")).digest(dimensions)
        for index, byte in enumerate(digest):
            total[index] += byte / 127.5 - 1.0
    length = math.hypot(*total)
    if not length:  # words that cancel each other out
        return [1.0, *total[1:]]
    return [value / length for value in total]


def embeddings(request: Request, dimensions: int) -> object:
    """The response to a request for embeddings."""
    body = as_object(request.body)
    if request.protocol == "google":
        return _google(body, request.path, dimensions)
    size = int(body.get("dimensions") or dimensions)
    given: Any = body.get("input")
    texts = [str(text) for text in cast("list[Any]", given)] if isinstance(given, list) else [str(given)]
    packed = body.get("encoding_format") == "base64"
    count = sum(len(text.split()) for text in texts)
    return {
        "object": "list",
        "model": request.model,
        "data": [
            {"object": "embedding", "index": index, "embedding": _pack_base64(found) if packed else found}
            for index, found in enumerate(vector(text, size) for text in texts)
        ],
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }


def _pack_base64(values: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def _google(body: dict[str, Any], path: str, dimensions: int) -> object:
    if path.endswith(":embedContent"):
        return {"embedding": _google_one(body, dimensions)}
    return {"embeddings": [_google_one(one, dimensions) for one in as_objects(body.get("requests"))]}


def _google_one(body: dict[str, Any], dimensions: int) -> object:
    text = "".join(str(part.get("text", "")) for part in as_objects(as_object(body.get("content")).get("parts")))
    return {"values": vector(text, int(body.get("outputDimensionality") or dimensions))}
