"""Which protocol is spoken and what is wanted."""

from collections.abc import Callable

import pytest

from marid.testing.http1 import RawRequest
from marid.testing.request import Request
from marid.testing.routes import Route, read_request, route

Ask = Callable[..., Request]


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/v1/chat/completions", Route(protocol="openai", kind="chat")),
        ("POST", "/api/v1/chat/completions", Route(protocol="openai", kind="chat")),
        ("POST", "/v1/embeddings", Route(protocol="openai", kind="embeddings")),
        ("POST", "/v1/messages", Route(protocol="anthropic", kind="chat")),
        ("POST", "/v1beta/models/a%2Fb:generateContent", Route(protocol="google", kind="chat", model="a/b")),
        ("POST", "/v1beta/models/m:streamGenerateContent", Route(protocol="google", kind="chat", model="m")),
        ("POST", "/v1beta/models/m:embedContent", Route(protocol="google", kind="embeddings", model="m")),
        ("POST", "/v1beta/models/m:countTokens", Route(protocol="google", kind="unknown", model="m")),
        ("GET", "/v1/models", Route(protocol="openai", kind="models")),
        ("GET", "/v1/models/a/b", Route(protocol="openai", kind="models", model="a/b")),
        ("GET", "/v1beta/models", Route(protocol="google", kind="models")),
        ("GET", "/v1/modelsx", Route(protocol="openai", kind="unknown", model="x")),
        ("POST", "/v1/models", Route(protocol="openai", kind="unknown")),
        ("GET", "/", Route(protocol="openai", kind="unknown")),
    ],
)
def test_a_path_leads_where_its_provider_has_it(method: str, path: str, expected: Route) -> None:
    assert route(method, path, {}) == expected


def test_headers_tell_whose_models_are_asked_for() -> None:
    assert route("GET", "/v1/models", {"anthropic-version": "2023-06-01"}).protocol == "anthropic"
    assert route("GET", "/v1/models", {"x-goog-api-key": "k"}).protocol == "google"


def test_the_query_is_apart_from_the_path(ask: Ask) -> None:
    request = ask("/v1beta/models/m:streamGenerateContent?alt=sse&key=k&empty=")
    assert request.path == "/v1beta/models/m:streamGenerateContent"
    assert request.query == {"alt": "sse", "key": "k", "empty": ""}
    assert request.stream


def test_a_stream_is_asked_for_in_the_body(ask: Ask) -> None:
    assert ask("openai", {"model": "m", "stream": True}).stream
    assert not ask("openai", {"model": "m", "stream": "true"}).stream
    assert ask("openai", {"model": "m"}).model == "m"


def test_a_body_that_is_no_json_is_none() -> None:
    received = RawRequest(method="POST", target="/v1/messages", headers={}, content=b"{")
    assert read_request(received, 7).body is None
    assert read_request(received, 7).number == 7
