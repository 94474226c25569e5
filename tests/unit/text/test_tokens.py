import importlib
import time
from functools import cache
from typing import Protocol, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.ports import FakeCache
from marid.core.errors import BadInput
from marid.text.tokens import ENCODINGS, CachedCounter, TokenCounter, make_counter

WINDOW = 192 * 1024
UNITS = [
    *("a", "B", "1", "23", " ", "  ", "\n", "\r\n", "\t", "'s", "'", "/", "//", "_", "é", "中", "\u0301", "²", "😀"),
    *("-", "<|"),
]


class Tokenizer(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...
    def encode_flat(self, text: str) -> bytes: ...
    def special_tokens(self) -> dict[str, int]: ...


@cache
def reference(encoding: str) -> Tokenizer:
    return cast("Tokenizer", importlib.import_module("splintr").Tokenizer.from_pretrained(encoding))


@pytest.fixture(scope="module")
def o200k() -> TokenCounter:
    return make_counter()


@pytest.mark.parametrize(
    ("encoding", "text", "tokens"),
    [
        ("o200k_base", "", 0),
        ("o200k_base", "hello world", 2),
        ("o200k_base", "<|endoftext|>", 7),
        ("o200k_base", "def f(x):\n    return x\n", 8),
        ("cl100k_base", "hello world", 2),
        ("cl100k_base", "<|endoftext|>", 7),
    ],
)
def test_known_texts_have_their_known_counts(encoding: str, text: str, tokens: int) -> None:
    counted = make_counter(encoding)
    assert counted.count(text.encode()) == tokens
    assert (counted.name, counted.exact) == (encoding, True)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_special_token_counts_as_the_text_it_is(encoding: str) -> None:
    tokenizer = reference(encoding)
    for special in tokenizer.special_tokens():
        assert ENCODINGS[encoding] in special
    text = "a " + " ".join(list(tokenizer.special_tokens())[:20])
    assert make_counter(encoding).count(text.encode()) == len(tokenizer.encode_ordinary(text))


def test_an_unknown_encoding_is_refused_with_or_without_the_tokenizer() -> None:
    with pytest.raises(BadInput, match=r'unknown encoding "gpt2": use one of o200k_base, cl100k_base'):
        make_counter("gpt2")
    with pytest.raises(BadInput):
        make_counter("gpt2", library="a_module_that_nobody_has")


def test_without_the_tokenizer_four_bytes_are_a_token_and_it_says_so() -> None:
    guess = make_counter(library="a_module_that_nobody_has")
    assert [guess.count(b"x" * size) for size in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert (guess.name, guess.exact) == ("bytes/4", False)


def test_bytes_that_are_not_utf8_are_counted(o200k: TokenCounter) -> None:
    assert o200k.count(b"caf\xe9 \xff\xfe") == o200k.count("caf\ufffd \ufffd\ufffd".encode())


@settings(max_examples=25, deadline=None)
@given(
    unit=st.lists(st.sampled_from(UNITS), min_size=1, max_size=40).map(lambda units: "".join(units) + "end "),
    encoding=st.sampled_from(sorted(ENCODINGS)),
)
def test_a_long_text_counts_as_if_it_were_not_cut(unit: str, encoding: str) -> None:
    text = unit * (2 * WINDOW // len(unit.encode()) + 3)
    assert make_counter(encoding).count(text.encode()) == len(reference(encoding).encode_ordinary(text))


@pytest.mark.parametrize("unit", ["a", "7", " ", "\n", "=", "中", "é", "😀", "xyzzyq", "\u200d"])
def test_a_word_without_end_counts_nearly_as_if_it_were_not_cut(o200k: TokenCounter, unit: str) -> None:
    text = unit * (3 * WINDOW // len(unit.encode()))
    whole = len(reference("o200k_base").encode_ordinary(text))
    assert abs(o200k.count(text.encode()) - whole) <= 4


@pytest.mark.parametrize("unit", [b"a", b" ", b"7", b"\x80", b"=", "中".encode()])
def test_ten_megabytes_of_one_character_take_no_time(o200k: TokenCounter, unit: bytes) -> None:
    start = time.process_time()
    assert o200k.count(unit * (10_000_000 // len(unit))) > 10_000
    assert time.process_time() - start < 5


def test_a_content_is_counted_once(o200k: TokenCounter) -> None:
    known = FakeCache()
    cached = CachedCounter(o200k, known)
    assert cached.count_many([b"hello world", b"hello", b"hello world"]) == [2, 1, 2]
    assert cached.count_many([b"hello", b"hello world"]) == [1, 2]
    assert known.puts == [("tokens:o200k_base", 2)]
    assert known.gets == [("tokens:o200k_base", 3), ("tokens:o200k_base", 2)]


def test_a_broken_row_is_counted_again(o200k: TokenCounter) -> None:
    known = FakeCache()
    cached = CachedCounter(o200k, known)
    cached.count_many([b"hello"])
    known.rows = dict.fromkeys(known.rows, b"many")
    assert cached.count_many([b"hello"]) == [1]
    assert set(known.rows.values()) == {b"1"}


def test_an_approximation_is_never_kept() -> None:
    known = FakeCache()
    cached = CachedCounter(make_counter(library="a_module_that_nobody_has"), known)
    assert (cached.count_many([b"12345678"]), cached.exact) == ([2], False)
    assert (known.gets, known.puts) == ([], [])
