"""The lists of models."""

import json
from contextlib import suppress
from socket import socket

import anyio
import pytest

from fakes.model import DIALECTS, KEY, provider_at
from fakes.web import Server, answer, serving
from marid.adapters.gateway.model_list import list_models
from marid.adapters.gateway.options import RetryPolicy
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.errors import NotFound, Refused, Unavailable
from marid.core.model_io import ModelInfo
from marid.testing import ModelServer, Script, ScriptedModel


def models_of(provider: Provider) -> tuple[ModelInfo, ...]:
    return anyio.run(list_models, provider, RetryPolicy())


def service(server: Server, id: str = "openai", dialect: Dialect = "openai") -> Provider:
    return Provider(id=id, dialect=dialect, base_url=f"http://{server.place}/v1", api_key=KEY)


def body(value: object) -> bytes:
    return answer(json.dumps(value).encode(), kind="application/json")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_s_list_has_the_context_windows(dialect: Dialect) -> None:
    listed = [ScriptedModel(id="m-1", context=1000, output=100), ScriptedModel(id="m-2")]
    with ModelServer(Script(models=listed, key=KEY)) as server:
        found = models_of(provider_at(server, dialect))
        with pytest.raises(Refused, match="check api_key"):
            models_of(provider_at(server, dialect, key="another-key"))
    limits = [(one.id, one.context_window, one.max_output) for one in found]
    assert limits == [("m-1", 1000, 100), ("m-2", 128_000, 4096)]


def test_lm_studios_own_list_comes_first_and_then_the_others() -> None:
    with serving() as server:
        server.replies["/api/v0/models"] = body({"data": [{"id": "q", "loaded_context_length": 4096}]})
        found = models_of(service(server, "lmstudio"))
        assert server.paths() == ["/api/v1/models", "/api/v0/models"]
        assert [(one.id, one.context_window) for one in found] == [("q", 4096)]


def test_a_service_that_closes_a_connection_it_had_kept_loses_no_question() -> None:
    def keep_and_close(connection: socket) -> None:
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        connection.recv(1)  # ended by whatever is asked next on this connection, which then gets no answer

    with serving() as server:
        server.replies["/api/v1/models"] = keep_and_close
        server.replies["/api/v0/models"] = body({"data": [{"id": "q"}]})
        assert [one.id for one in models_of(service(server, "lmstudio"))] == ["q"]


def test_lm_studios_newest_list_is_understood() -> None:
    with serving() as server:
        entry = {"key": "k", "display_name": "K", "max_context_length": 9}
        server.replies["/api/v1/models"] = body({"models": [entry]})
        (found,) = models_of(service(server, "lmstudio"))
        assert (found.id, found.name, found.context_window) == ("k", "K", 9)


@pytest.mark.parametrize(
    ("loaded", "window"),
    [
        ([{"config": {"context_length": 4096}}], 4096),
        ([{"config": {"context_length": 8192}}, {"config": {"context_length": 4096}}, 7, {"config": 7}, {}], 4096),
        ([], 40960),
        (None, 40960),
    ],
)
def test_the_window_with_which_lm_studio_has_loaded_a_model_counts(loaded: object, window: int) -> None:
    entry = {"key": "k", "max_context_length": 40960, "loaded_instances": loaded}
    with serving() as server:
        server.replies["/api/v1/models"] = body({"models": [entry]})
        assert [one.context_window for one in models_of(service(server, "lmstudio"))] == [window]


UNEXPECTED = {"error": "Unexpected endpoint or method. (GET /api/v1/models)"}


def test_a_list_that_lm_studio_does_not_know_is_followed_by_the_next() -> None:
    with serving() as server:
        server.replies["/api/v1/models"] = body(UNEXPECTED)
        server.replies["/api/v0/models"] = body(UNEXPECTED)
        server.replies["/v1/models"] = body({"data": [{"id": "q"}]})
        assert [one.id for one in models_of(service(server, "lmstudio"))] == ["q"]


@pytest.mark.parametrize(
    ("error", "words"), [(UNEXPECTED, "Unexpected endpoint"), ({"error": {"code": 1}}, "an error")]
)
def test_an_error_instead_of_a_list_is_not_an_empty_list(error: object, words: str) -> None:
    with serving() as server:
        server.replies["/v1/models"] = body(error)
        with pytest.raises(NotFound, match=f"has no list of models: .*{words}"):
            models_of(service(server))


@pytest.mark.parametrize(
    ("dialect", "path", "field", "more", "query"),
    [
        ("anthropic", "/v1/models", "data", {"has_more": True, "last_id": "a"}, "after_id=a"),
        ("google", "/v1/v1beta/models", "models", {"nextPageToken": "t"}, "pageToken=t"),
    ],
)
def test_a_list_in_pages_is_read_to_its_end(
    dialect: Dialect, path: str, field: str, more: dict[str, object], query: str
) -> None:
    with serving() as server:

        def page(connection: socket) -> None:
            last = query.encode() in server.asked[-1]
            connection.sendall(body({field: [{"id": "b"}]} if last else {field: [{"id": "a"}], **more}))

        server.replies[path] = page
        assert [one.id for one in models_of(service(server, dialect, dialect))] == ["a", "b"]


def test_pages_without_end_are_not_read_for_ever() -> None:
    with serving() as server:
        server.replies["/v1/models"] = body({"data": [{"id": "a"}], "has_more": True, "last_id": "a"})
        assert len(models_of(service(server, "anthropic", "anthropic"))) == 20


def test_prices_are_for_a_million_tokens() -> None:
    entries = [
        {"id": "a", "pricing": {"prompt": "0.0000025", "completion": "x"}},
        {"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "odd", "pricing": {"prompt": "inf", "completion": "nan"}},
        {"id": "huge", "pricing": {"prompt": "1e308", "completion": "Infinity"}},
        {"id": ""},
        {"id": 7},
        "x",
        {"id": "b"},
    ]
    with serving() as server:
        server.replies["/v1/models"] = body({"data": entries})
        found = models_of(service(server, "openrouter", "openrouter"))
    prices = {one.id: (one.input_price, one.output_price) for one in found}
    assert prices == {"a": (2.5, None), **dict.fromkeys(["auto", "odd", "huge", "b"], (None, None))}


@pytest.mark.parametrize(
    "reply",
    [
        *(answer(b"<html>"), answer(b"[" * 100_000), body([1])),
        *(answer(b"", status="500 Oops"), answer(b"", status="302 Found")),
    ],
)
def test_an_invalid_list_is_an_error(reply: bytes) -> None:
    with serving() as server:
        server.replies["/v1/models"] = reply
        with pytest.raises(Unavailable, match="models"):
            models_of(service(server))


def test_a_list_without_end_is_given_up() -> None:
    def endless(connection: socket) -> None:
        with suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
            while True:
                connection.sendall(b" " * 65536)

    with serving() as server:
        server.replies["/v1/models"] = endless
        with pytest.raises(Unavailable, match="too large"):
            models_of(service(server))


def test_a_list_of_another_form_is_empty() -> None:
    with serving() as server:
        server.replies["/v1/models"] = body({"data": "none"})
        assert models_of(service(server)) == ()


def test_no_list_at_all_is_not_found() -> None:
    with serving() as server, pytest.raises(NotFound, match="no list of models"):
        models_of(service(server))


def test_a_service_that_does_not_run_is_unavailable() -> None:
    with serving() as server:
        gone = service(server)
    with pytest.raises(Unavailable, match="cannot list the models"):
        models_of(gone)
