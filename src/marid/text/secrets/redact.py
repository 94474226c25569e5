"""Keep keys out of logs and messages."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from marid.text.secrets.masker import Masker

MASK = "[masked]"
_MIN_SECRET_LENGTH = 6
# The value of any other header may be a secret.
_HARMLESS_HEADERS = ("accept", "content-length", "content-type", "date", "host", "retry-after", "server", "user-agent")


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
        return {name: self.redact_text(value) if _is_harmless(name) else MASK for name, value in lowered.items()}

    def redact_body(self, data: bytes) -> Any:
        """The body as a JSON value if it is JSON, else as text."""
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
