"""Vectors made of words."""

import base64
import math
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marid.testing.embeddings import embeddings, vector
from marid.testing.request import Request

Ask = Callable[..., Request]


@example("ÔHÁ:Ð", 1)  # two words that cancel each other out
@given(st.text(), st.integers(1, 64))
def test_a_vector_has_length_one_and_is_always_the_same(text: str, dimensions: int) -> None:
    found = vector(text, dimensions)
    assert len(found) == dimensions
    assert math.isclose(math.hypot(*found), 1.0)
    assert vector(text, dimensions) == found


def test_texts_that_share_words_are_nearer() -> None:
    fox, other, sky = (vector(text, 64) for text in ("the red fox", "a red fox", "clouds above"))
    assert sum(a * b for a, b in zip(fox, other, strict=True)) > sum(a * b for a, b in zip(fox, sky, strict=True))


def test_a_text_or_a_list_of_them_is_answered_in_order(ask: Ask) -> None:
    one: Any = embeddings(ask("/v1/embeddings", {"model": "v", "input": "red fox"}), 4)
    two: Any = embeddings(ask("/v1/embeddings", {"model": "v", "input": ["red", "fox"], "dimensions": 3}), 4)
    assert one["data"][0]["embedding"] == vector("red fox", 4)
    assert [entry["embedding"] for entry in two["data"]] == [vector("red", 3), vector("fox", 3)]
    assert one["usage"] == {"prompt_tokens": 2, "total_tokens": 2}


def test_packed_vectors_unpack_to_the_same(ask: Ask) -> None:
    body = {"model": "v", "input": "red fox", "encoding_format": "base64"}
    found: Any = embeddings(ask("/v1/embeddings", body), 4)
    numbers = struct.unpack("<4f", base64.b64decode(found["data"][0]["embedding"]))
    assert numbers == pytest.approx(vector("red fox", 4))


def test_google_asks_for_one_or_for_many(ask: Ask) -> None:
    content = {"content": {"parts": [{"text": "red "}, {"text": "fox"}]}, "outputDimensionality": 3}
    one: Any = embeddings(ask("/v1beta/models/v:embedContent", content), 4)
    many: Any = embeddings(ask("/v1beta/models/v:batchEmbedContents", {"requests": [content, content]}), 4)
    assert one == {"embedding": {"values": vector("red fox", 3)}}
    assert len(many["embeddings"]) == 2
