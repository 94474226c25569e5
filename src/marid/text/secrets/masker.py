"""Replace keys and passwords in a text by a mask that names their kind."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import log2
from typing import Any

from marid.text.literal_finder import AdaptiveFinder, BuildFinder, build_hyperscan_finder
from marid.text.secrets.secret_rules import ASSIGNMENT, CONFIG_SUFFIXES, LOOSE_ENTROPY, RULES, TOKENS, SecretRule

# Starting hyperscan takes as long as the plain loop for about 75 KB; half of that, since a large tree pays for both.
WARM_BYTES = 32_000

MASK = "[masked]"
_MIN_SECRET_LENGTH = 6
# The value of any other header may be a secret.
_HARMLESS_HEADERS = ("accept", "content-length", "content-type", "date", "host", "retry-after", "server", "user-agent")
_HARMLESS_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "x-stainless-")
_MASK = b"[masked:"
# Words in a placeholder have one case. In a random key they would not, so a real key is not taken for one.
_WORD_LIST = b"your example sample placeholder dummy fake changeme change-me change_me replace insert redacted"
_WORDS = tuple(form for word in _WORD_LIST.split() for form in (word, word.upper(), word.capitalize()))
_FILLERS = rb"x{4}|X{4}|\*{3}|\.{3}|<[\w .-]+>|\{\{|[$#%][{(]|^\{|^\$[A-Za-z_]|^[\w.]+\("
# URLs, paths, dates, checksums and UUIDs are as long and mixed as secrets, but are not secrets.
_NOT_SECRET = (
    rb"://|^arn:|^\.{1,2}/|^/\w+/|^\d{4}-\d\d-\d\d|^sha\d+[-:]|^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
)
_DUMMIES = frozenset(b"password passwd passw0rd secret token apikey username qwerty letmein".split())
# Longer ones are blocks and tokens in which any short word occurs by chance.
_MAX_PLACEHOLDER_LENGTH = 200

SecretSpan = tuple[int, int, int]  # start, end, index of the rule


class Masker:
    """Masks the secrets in the files of one run; not thread-safe."""

    def __init__(self, *, warm_bytes: int = WARM_BYTES, build: BuildFinder = build_hyperscan_finder) -> None:
        self._hints = tuple((number, literal) for number, rule in enumerate(TOKENS) for literal in rule.literals)
        literals = tuple(literal for _, literal in self._hints)
        self._tokens = AdaptiveFinder(literals, caseless=False, warm_bytes=warm_bytes, build=build)
        self._keys = AdaptiveFinder(ASSIGNMENT.literals, caseless=True, warm_bytes=warm_bytes, build=build)
        self._find = self._tokens.find

    def mask(self, data: bytes, name: str) -> tuple[bytes, int]:
        """The text with `[masked:<rule>]` for every secret, and their number; `data` itself if there are none.

        `name` is the file's name: passwords without a fixed form are only masked in configuration files.
        """
        hits = self._find(data)
        spans: list[SecretSpan] = []
        for number, literal in [self._hints[hit] for hit in hits] if hits else ():
            spans += [(*span, number) for span in _find_secrets(TOKENS[number], literal, data, data)]
        if is_config_file(name) and (hits := self._keys.find(data)):
            lowered = data.lower()
            for literal in [ASSIGNMENT.literals[hit] for hit in hits]:
                spans += [(*span, len(TOKENS)) for span in _find_secrets(ASSIGNMENT, literal, data, lowered)]
        return _mask_spans(data, _merge_spans(spans)) if spans else (data, 0)

    def warm(self) -> None:
        """Prepare for much text now, not after the first of it."""
        self._tokens.warm()
        self._keys.warm()
        self._find = self._tokens.find_now


def is_config_file(name: str) -> bool:
    """Whether a file of this name or path may assign passwords."""
    return name[name.rfind(".") + 1 :].lower() in CONFIG_SUFFIXES or ".env." in name


def _find_secrets(rule: SecretRule, literal: bytes, data: bytes, haystack: bytes) -> Iterator[tuple[int, int]]:
    """Where `rule` finds secrets at its `literal`; `haystack` is `data`, in lower case for a caseless rule."""
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
                # A value may contain another key; a rejected run is not searched again.
                resume = start if start > at else end
        at = haystack.find(literal, resume)


@cache
def _compile(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _is_random(secret: bytes, entropy: float) -> bool:
    """Whether the value is neither a placeholder nor, for rules that require entropy, plain words."""
    if entropy == LOOSE_ENTROPY and _is_wordy(secret):
        return False
    if len(secret) <= _MAX_PLACEHOLDER_LENGTH and _is_placeholder(secret):
        return False
    shares = [secret.count(byte) / len(secret) for byte in set(secret)] if entropy else []
    return -sum(share * log2(share) for share in shares) >= entropy


def _is_placeholder(secret: bytes) -> bool:
    if secret.lower() in _DUMMIES or any(word in secret for word in _WORDS):
        return True
    return _compile(_FILLERS + rb"|" + _NOT_SECRET).search(secret) is not None


def _is_wordy(secret: bytes) -> bool:
    """Whether most letters and digits are in words of four letters or more."""
    pieces = _compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+").findall(secret)
    in_words = sum(len(piece) for piece in pieces if len(piece) > 3 and piece.isalpha())
    return 3 * in_words >= 2 * sum(len(piece) for piece in pieces)


def _touches_mask(data: bytes, start: int, end: int) -> bool:
    """Whether there is a mask in or directly beside the match. Without this, masking twice would differ from once."""
    if data.find(_MASK, start, end + len(_MASK)) >= 0:
        return True
    return data[start - 1 : start] == b"]" and data.rfind(_MASK, max(0, start - 60), start) >= 0


def _merge_spans(spans: list[SecretSpan]) -> list[SecretSpan]:
    """The spans in order; overlapping ones are merged under the earlier rule."""
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


class Redactor:
    """Masks the given keys in every common encoding, and anything that looks like a key."""

    def __init__(self, *secrets: str) -> None:
        forms = {form for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH for form in _spellings(secret)}
        self._forms = sorted(forms, key=len, reverse=True)
        self._masker = Masker()

    def redact_text(self, text: str) -> str:
        return self.redact_bytes(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def redact_bytes(self, data: bytes, name: str = "") -> bytes:
        """The data without keys; `name` is the name of the file they are from."""
        for form in self._forms:
            data = data.replace(form, MASK.encode())
        return self._masker.mask(data, name)[0]

    def redact_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """All header names in lower case, with values only for harmless ones."""
        lowered = {name.lower(): value for name, value in headers.items()}
        return {
            name: self.redact_text(value) if name in _HARMLESS_HEADERS or name.startswith(_HARMLESS_PREFIXES) else MASK
            for name, value in lowered.items()
        }

    def redact_body(self, data: bytes) -> Any:
        """The body as a JSON value if it is JSON, else as text."""
        import json  # imported when used, as below: a context is masked without it

        text = self.redact_text(data.decode("utf-8", "replace"))
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text


def _spellings(secret: str) -> set[bytes]:
    import base64
    import json
    from urllib.parse import quote

    plain = secret.encode("utf-8", "surrogateescape")
    escaped = json.dumps(secret)[1:-1].encode()
    encoded = base64.b64encode(plain)
    return {plain, escaped, quote(plain, safe="").encode(), encoded, encoded.rstrip(b"="), plain[::-1]}
