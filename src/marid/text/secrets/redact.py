"""Nothing that is logged or said holds a key."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from marid.text.secrets.masker import Masker

MASK = "[masked]"
_MIN_SECRET_LENGTH = 6
# Of everything else in a header, a stranger may have made a secret.
_HARMLESS_HEADERS = ("accept", "content-length", "content-type", "date", "host", "retry-after", "server", "user-agent")


class Redactor:
    """Masks the keys it was given, in whatever form they appear, and what looks like a key."""

    def __init__(self, *secrets: str) -> None:
        forms = {form for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH for form in _spellings(secret)}
        self._forms = sorted(forms, key=len, reverse=True)
        self._masker = Masker()

    def redact_text(self, text: str) -> str:
        """`text` without keys."""
        return self.redact_bytes(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def redact_bytes(self, data: bytes, name: str = "") -> bytes:
        """The same of bytes, which are of a file of that name."""
        for form in self._forms:
            data = data.replace(form, MASK.encode())
        return self._masker.mask(data, name)[0]

    def redact_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """All names, and the values of those that are known to be harmless."""
        lowered = {name.lower(): value for name, value in headers.items()}
        return {name: self.redact_text(value) if _is_harmless(name) else MASK for name, value in lowered.items()}

    def redact_body(self, data: bytes) -> Any:
        """The body as JSON where it is JSON, else as text."""
        text = self.redact_text(data.decode("utf-8", "replace"))
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text


def _is_harmless(name: str) -> bool:
    return name in _HARMLESS_HEADERS or name.startswith(("x-ratelimit-", "anthropic-ratelimit-", "x-stainless-"))


def _spellings(secret: str) -> set[bytes]:
    plain = secret.encode("utf-8", "surrogateescape")
    escaped = json.dumps(secret)[1:-1].encode()
    encoded = base64.b64encode(plain)
    return {plain, escaped, quote(plain, safe="").encode(), encoded, encoded.rstrip(b"="), plain[::-1]}
