"""Keys and passwords in a text give way to a mask that names their kind."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import log2

from marid.text.regex.literal_finder import AdaptiveFinder, BuildFinder, build_hyperscan_finder
from marid.text.secrets.secret_rules import ASSIGNMENT, CONFIG_SUFFIXES, LOOSE_ENTROPY, RULES, TOKENS, SecretRule

# Starting hyperscan costs what the plain loop needs for some 75 KB; half of that, as a large tree pays for both.
WARM_BYTES = 32_000

_MASK = b"[masked:"
# Words in a placeholder keep to one case; in a random key they would not, so a real key is not taken for one.
_WORD_LIST = b"your example sample placeholder dummy fake changeme change-me change_me replace insert redacted"
_WORDS = tuple(form for word in _WORD_LIST.split() for form in (word, word.upper(), word.capitalize()))
_FILLERS = rb"x{4}|X{4}|\*{3}|\.{3}|<[\w .-]+>|\{\{|[$#%][{(]|^\{|^\$[A-Za-z_]|^[\w.]+\("
# Addresses, paths, dates, checksums and UUIDs are long and mixed as a secret is, and none.
_NOT_SECRET = (
    rb"://|^arn:|^\.{1,2}/|^/\w+/|^\d{4}-\d\d-\d\d|^sha\d+[-:]|^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
)
_DUMMIES = frozenset(b"password passwd passw0rd secret token apikey username qwerty letmein".split())
# Longer ones are blocks and tokens in which any short word turns up by chance.
_MAX_PLACEHOLDER_LENGTH = 200

SecretSpan = tuple[int, int, int]  # start, end, number of the rule


class Masker:
    """Masks the secrets of one run's files; one thread at a time."""

    def __init__(self, *, warm_bytes: int = WARM_BYTES, build: BuildFinder = build_hyperscan_finder) -> None:
        self._hints = tuple((number, literal) for number, rule in enumerate(TOKENS) for literal in rule.literals)
        literals = tuple(literal for _, literal in self._hints)
        self._tokens = AdaptiveFinder(literals, caseless=False, warm_bytes=warm_bytes, build=build)
        self._keys = AdaptiveFinder(ASSIGNMENT.literals, caseless=True, warm_bytes=warm_bytes, build=build)
        self._find = self._tokens.find

    def mask(self, data: bytes, name: str) -> tuple[bytes, int]:
        """The text with `[masked:<rule>]` for every secret, and how many; `data` itself where there is none.

        `name` is the file's name: passwords without a form of their own are looked for in configuration files only.
        """
        hits = self._find(data)
        spans = self._token_spans(data, hits) if hits else []
        if is_config_file(name):
            spans += self._assignment_spans(data)
        if not spans:
            return data, 0
        return _mask_spans(data, _merge_spans(spans))

    def warm(self) -> None:
        """Get ready for much text at once, rather than after the first of it."""
        self._tokens.warm()
        self._keys.warm()
        self._find = self._tokens.finder.find

    def _token_spans(self, data: bytes, hits: Sequence[int]) -> list[SecretSpan]:
        hints = [self._hints[hit] for hit in hits]
        return [
            (*span, number) for number, literal in hints for span in _find_secrets(TOKENS[number], literal, data, data)
        ]

    def _assignment_spans(self, data: bytes) -> list[SecretSpan]:
        hits = self._keys.find(data)
        lowered = data.lower() if hits else data
        literals = [ASSIGNMENT.literals[hit] for hit in hits]
        return [
            (*span, len(TOKENS)) for literal in literals for span in _find_secrets(ASSIGNMENT, literal, data, lowered)
        ]


def is_config_file(name: str) -> bool:
    """Whether a file of that name or path is one in which passwords are assigned."""
    return name[name.rfind(".") + 1 :].lower() in CONFIG_SUFFIXES or ".env." in name


def _find_secrets(rule: SecretRule, literal: bytes, data: bytes, haystack: bytes) -> Iterator[tuple[int, int]]:
    """Where `rule` finds secrets at its `literal`; `haystack` is `data`, or that in lower case."""
    pattern = _compile(rule.pattern)
    group = pattern.groupindex.get("secret", 0)
    at = haystack.find(literal)
    while at >= 0:
        resume = at + 1
        if match := pattern.match(data, at):
            start, end = match.span(group)
            if _is_random(data[start:end], rule.entropy) and not _touches_mask(data, *match.span()):
                yield start, end
                resume = end
            else:
                # What was given to a key may hold another key; a refused run is not read again from within.
                resume = start if start > at else end
        at = haystack.find(literal, resume)


@cache
def _compile(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _is_random(secret: bytes, entropy: float) -> bool:
    """Whether `secret` is neither a placeholder nor, where its rule asks for it, plain words."""
    if entropy == LOOSE_ENTROPY and _is_wordy(secret):
        return False
    if len(secret) <= _MAX_PLACEHOLDER_LENGTH and _is_placeholder(secret):
        return False
    return not entropy or _entropy(secret) >= entropy


def _is_placeholder(secret: bytes) -> bool:
    if secret.lower() in _DUMMIES or any(word in secret for word in _WORDS):
        return True
    return _compile(_FILLERS + rb"|" + _NOT_SECRET).search(secret) is not None


def _entropy(secret: bytes) -> float:
    """Bits per byte, by how often each byte occurs."""
    shares = [secret.count(byte) / len(secret) for byte in set(secret)]
    return -sum(share * log2(share) for share in shares)


def _is_wordy(secret: bytes) -> bool:
    """Whether most of its letters and digits stand in words of four letters or more."""
    pieces = _compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+").findall(secret)
    in_words = sum(len(piece) for piece in pieces if len(piece) > 3 and piece.isalpha())
    return 3 * in_words >= 2 * sum(len(piece) for piece in pieces)


def _touches_mask(data: bytes, start: int, end: int) -> bool:
    """Whether a mask stands in or right beside the match; what it replaced was judged when it was made.

    Without this a mask could set free its neighbour, and masking twice would differ from masking once.
    """
    if data.find(_MASK, start, end + len(_MASK)) >= 0:
        return True
    return data[start - 1 : start] == b"]" and data.rfind(_MASK, max(0, start - 60), start) >= 0


def _merge_spans(spans: list[SecretSpan]) -> list[SecretSpan]:
    """The spans in order, overlapping ones as one with the name of the earlier rule."""
    merged: list[SecretSpan] = []
    for start, end, number in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, before = merged[-1]
            merged[-1] = (first, max(last, end), min(before, number))
        else:
            merged.append((start, end, number))
    return merged


def _mask_spans(data: bytes, spans: list[SecretSpan]) -> tuple[bytes, int]:
    parts: list[bytes] = []
    done = 0
    for start, end, number in spans:
        parts += (data[done:start], _MASK, RULES[number].name.encode(), b"]")
        done = end
    parts.append(data[done:])
    return b"".join(parts), len(spans)
