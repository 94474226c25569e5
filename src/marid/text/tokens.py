"""Count tokens offline."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from marid.core.errors import BadInput
from marid.ports.cache import Cache
from marid.text.content_hash import content_key

# Each encoding with a string that all its special tokens contain. In text without it, the tokenizer's fast method,
# which interprets special tokens, gives the same count as its slow method, which does not.
ENCODINGS = MappingProxyType(
    {"o200k_base": "<|", "cl100k_base": "<|", "llama3": "<|", "phi4": "<|", "deepseek_v3": "<", "qwen3": "<"}
)

# The tokenizer needs 65 bytes for each byte of one word, and a "word" may be a file of 100 MB. The size is a multiple
# of 3, 8 and 128, so that even a cut through endless digits, letters or spaces does not change the count.
_WINDOW = 3 << 16
# Every encoding splits words between a letter or digit and white space, and between a letter and a digit, so that the
# counts of the two sides add up to the count of the whole.
_SEAM = rb"[A-Za-z](?=[\s0-9])|[0-9](?=[\sA-Za-z])"
_SEAM_SEARCH_BYTES = 4096
# The tokenizer's cache of words has no size limit.
_CLEAR_CACHE_AFTER = 8 << 20


class _Tokenizer(Protocol):
    def encode_flat(self, text: str) -> bytes: ...
    def encode_ordinary(self, text: str) -> list[int]: ...
    def clear_cache(self) -> None: ...


def make_counter(encoding: str = "o200k_base", *, library: str = "splintr") -> "TokenCounter":
    """The counter of an encoding, or an approximation if `library` is not installed. Raises: BadInput."""
    if encoding not in ENCODINGS:
        raise BadInput(f'unknown encoding "{encoding}": use one of {", ".join(ENCODINGS)}')
    try:
        import_module(library)
    except ImportError:
        return TokenCounter("bytes/4", "")
    return TokenCounter(encoding, library)


@cache
def _tokenizer(library: str, encoding: str) -> _Tokenizer:
    """Loaded on first use, because it takes 60 ms and 30 MB."""
    return cast("_Tokenizer", import_module(library).Tokenizer.from_pretrained(encoding))


class TokenCounter:
    """Counts tokens by the encoding `name`.

    If `exact`, as the reference tokenizer does, except for a token or two per 192 KB of a word longer than that. Else
    four bytes count as a token, which is right for source code on average but not for each file.
    """

    def __init__(self, name: str, library: str) -> None:
        self.name = name
        self.exact = bool(library)
        self._library = library
        self._bytes_since_clear = 0

    def count(self, data: bytes) -> int:
        """The tokens of UTF-8 text; invalid bytes count as the replacement character."""
        return sum(map(self._count, _windows(data))) if self.exact else (len(data) + 3) // 4

    def _count(self, window: bytes) -> int:
        tokenizer = _tokenizer(self._library, self.name)
        text = window.decode("utf-8", "replace")
        is_special = ENCODINGS[self.name] in text
        # The flat form has four bytes per id.
        tokens = len(tokenizer.encode_ordinary(text)) if is_special else len(tokenizer.encode_flat(text)) // 4
        self._bytes_since_clear += len(window)
        if self._bytes_since_clear > _CLEAR_CACHE_AFTER:
            tokenizer.clear_cache()
            self._bytes_since_clear = 0
        return tokens


def _windows(data: bytes) -> Iterator[bytes]:
    start = 0
    while len(data) - start > _WINDOW:
        end = _find_seam(data, start, start + _WINDOW)
        yield data[start:end]
        start = end
    yield data[start:]


def _find_seam(data: bytes, start: int, end: int) -> int:
    """The last place before `end` where a cut does not change the count, else one between two characters."""
    pattern = re.compile(_SEAM)
    for first in (end - _SEAM_SEARCH_BYTES, start):
        if cut := max((match.end() for match in pattern.finditer(data, first, end)), default=0):
            return cut
    for cut in range(end, end - 4, -1):
        if data[cut] & 0xC0 != 0x80:  # not inside a character
            return cut
    return end


class CachedCounter:
    """Caches exact counts by content. Approximate counts are too cheap to cache."""

    def __init__(self, inner: TokenCounter, cache: Cache) -> None:
        self.name = inner.name
        self.exact = inner.exact
        self._inner = inner
        self._cache = cache
        self._kind = f"tokens:{inner.name}"

    def count_many(self, items: Sequence[bytes]) -> list[int]:
        """The tokens of each item, with one read and at most one write of the cache."""
        if not self.exact:
            return [self._inner.count(item) for item in items]
        keys = [content_key(item) for item in items]
        rows = self._cache.get(self._kind, keys)
        fresh: dict[bytes, bytes] = {}
        for key, item in zip(keys, items, strict=True):
            if not rows.get(key, b"").isdigit():
                rows[key] = fresh[key] = b"%d" % self._inner.count(item)
        if fresh:
            self._cache.put(self._kind, fresh)
        return [int(rows[key]) for key in keys]
