"""No key is ever told."""

import base64
import os
from urllib.parse import quote

import pytest

from marid.text.secrets.redact import MASK, Redactor

KEY = 'canary/+"0123'


@pytest.mark.parametrize(
    "form", [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), 'canary/+\\"0123', KEY[::-1]]
)
def test_a_key_is_masked_in_every_form(form: str) -> None:
    assert Redactor(KEY).redact_text(f"before {form} after") == f"before {MASK} after"


def test_what_looks_like_a_key_is_masked_too() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert token not in Redactor().redact_text(f"use {token} here")


def test_a_short_key_is_not_looked_for() -> None:
    assert Redactor("x", "").redact_text("xylophone") == "xylophone"


def test_only_harmless_headers_are_shown() -> None:
    shown = Redactor(KEY).redact_headers(
        {"Authorization": f"Bearer {KEY}", "Content-Type": "a/b", "X-Odd": "v", "x-ratelimit-a": "1"}
    )
    assert shown == {"authorization": MASK, "content-type": "a/b", "x-odd": MASK, "x-ratelimit-a": "1"}


def test_a_body_is_json_where_it_can_be() -> None:
    assert Redactor("secret-key").redact_body(b'{"a": "secret-key"}') == {"a": MASK}
    assert Redactor("secret-key").redact_body(b"plain secret-key") == f"plain {MASK}"


def test_a_key_that_is_not_text_does_no_harm() -> None:
    odd = os.fsdecode(b"sk-\xff\xfeabcdef")
    assert Redactor(odd).redact_bytes(b"x sk-\xff\xfeabcdef y") == b"x [masked] y"
