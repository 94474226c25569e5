"""Requests as clients make them."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from marid.testing.request import RawRequest, Request, parse_request

Ask = Callable[..., Request]
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "google": "/v1beta/models/m:generateContent"}


@pytest.fixture
def ask() -> Ask:
    """A request by the name of its protocol, or by its path."""

    def make(
        to: str = "openai", body: Any = None, *, headers: Mapping[str, str] | None = None, method: str = "POST"
    ) -> Request:
        content = json.dumps({"model": "m"} if body is None else body).encode()
        raw = RawRequest(method=method, target=PATHS.get(to, to), headers=headers or {}, content=content)
        return parse_request(raw, 0)

    return make
