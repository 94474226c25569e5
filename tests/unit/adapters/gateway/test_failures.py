"""Errors of the library as our error families."""

import ssl
from asyncio import CancelledError

import httpx2
import pytest
from pydantic_ai import exceptions

from marid.adapters.gateway.failures import LIBRARY_ERRORS, classify_error
from marid.adapters.gateway.providers import Provider
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable

KEY = "sk-canary-0123456789"
PROVIDER = Provider(id="x", dialect="openai", base_url="http://host:1/v1", api_key=KEY)


def http(status: int, category: type[exceptions.ModelAPIError] | None = None, body: object = None) -> Exception:
    return exceptions.ModelHTTPError.for_category(category, status_code=status, model_name="m", body=body)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("cause", "family", "again"),
    [
        (http(400, exceptions.ModelContextWindowExceededError), Exhausted, False),
        (http(402, exceptions.ModelQuotaExceededError), Exhausted, False),
        (http(404, exceptions.ModelNotFoundError, {"error": "no such model"}), NotFound, False),
        (http(404, exceptions.ModelNotFoundError, [{"message": "no such model"}]), NotFound, False),
        (http(401, exceptions.ModelAuthenticationError), Refused, False),
        (http(400, exceptions.ModelRequestRejectedError), BadInput, False),
        (http(422), BadInput, False),
        (http(418), BadInput, False),
        (http(407), Refused, False),
        (http(413), Exhausted, False),
        (http(408), Unavailable, False),
        (http(409), Unavailable, False),
        (http(425), Unavailable, False),
        (http(429), Unavailable, True),
        (http(503), Unavailable, True),
        (http(429, exceptions.ModelRateLimitError), Unavailable, True),
        (http(500, exceptions.ModelServerError), Unavailable, True),
        (http(529, exceptions.ModelOverloadedError), Unavailable, True),
        (exceptions.ModelConnectionError("m", "gone"), Unavailable, True),
        (exceptions.ModelAPIError("m", "odd"), Unavailable, True),
        (exceptions.UserError("no such setting"), BadInput, False),
        (exceptions.UnexpectedModelBehavior("odd"), Unavailable, True),
        (httpx2.ReadError("reset"), Unavailable, True),
        (KeyError("choices"), Unavailable, True),
    ],
)
def test_every_failure_has_a_family(cause: Exception, family: type[MaridError], again: bool) -> None:
    assert isinstance(cause, LIBRARY_ERRORS)
    failure = classify_error(cause, PROVIDER, "m-1")
    assert type(failure.error) is family
    assert failure.can_retry is again
    assert "'host:1'" in str(failure.error)
    assert "'m-1'" in str(failure.error)


def test_the_provider_s_message_is_shown_without_the_key() -> None:
    body = {"error": {"message": f"bad key {KEY}\n\x1b[31mred", "code": 1}}
    shown = str(classify_error(http(401, exceptions.ModelAuthenticationError, body), PROVIDER, "m").error)
    assert "bad key [masked] [31mred" in shown
    assert KEY not in shown


def test_the_message_of_the_connection_is_shown() -> None:
    outer = exceptions.ModelConnectionError("m", "Connection error.")
    outer.__cause__ = httpx2.ConnectError("")
    outer.__cause__.__cause__ = OSError("Name or service not known")
    assert "Name or service not known" in str(classify_error(outer, PROVIDER, "m").error)


@pytest.mark.parametrize(
    ("header", "after"),
    [("7", 7.0), ("1.5", 1.5), ("0.0", 0.0), ("-1.5", None), ("nan", None), ("inf", None), ("soon", None)],
)
def test_retry_after_is_read(header: str, after: float | None) -> None:
    late = exceptions.ModelHTTPError(429, "m", headers={"Retry-After": header})
    assert classify_error(late, PROVIDER, "m").retry_after == after


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "Trying to keep the first 5 tokens when context the overflows. It has context length of only 4", None),
        (400, "The number of tokens to keep from the initial prompt is greater than the context length", None),
        (400, "the request exceeds the available context size, try increasing it", "exceed_context_size_error"),
        (400, "it does not fit", "exceed_context_size_error"),
        (500, "Context size has been exceeded.", "server_error"),
        (400, "prompt too long; exceeded max context length by 5 tokens", None),
        (400, "the input length exceeds the context length", None),
        (400, "input length and `max_tokens` exceed context limit: 195000 + 64000 > 200000", None),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 20", None),
        (400, "The decoder prompt (length 9) is longer than the maximum model length of 8", None),
    ],
)
def test_a_full_context_window_is_recognized_by_the_messages_of_local_services(
    status: int, message: str, kind: str | None
) -> None:
    cause = exceptions.ModelHTTPError(status, "m", {"message": message}, provider_error_type=kind)
    failure = classify_error(cause, PROVIDER, "m")
    assert isinstance(failure.error, Exhausted)
    assert not failure.can_retry
    assert "start a new conversation" in str(failure.error)
    assert isinstance(classify_error(exceptions.ModelAPIError("m", message), PROVIDER, "m").error, Exhausted) or kind
    assert not isinstance(classify_error(http(429, body={"message": message}), PROVIDER, "m").error, Exhausted)


@pytest.mark.parametrize(
    "message", ["no such field: context", "the length of the name", "context_window must be a number"]
)
def test_other_messages_about_length_are_not_a_full_window(message: str) -> None:
    assert isinstance(classify_error(http(400, body={"message": message}), PROVIDER, "m").error, BadInput)


@pytest.mark.parametrize("body", ["404 page not found", "<html>", None, {"detail": "Not Found"}])
def test_a_404_that_is_not_of_a_model_service_is_a_wrong_address(body: object) -> None:
    failure = classify_error(http(404, exceptions.ModelNotFoundError, body), PROVIDER, "m")
    assert isinstance(failure.error, Unavailable)
    assert not failure.can_retry
    assert "check base_url" in str(failure.error)


def test_a_path_that_lm_studio_does_not_know_is_a_wrong_address() -> None:
    failure = classify_error(exceptions.ModelAPIError("m", "Unexpected endpoint or method. (POST /x)"), PROVIDER, "m")
    assert "check base_url" in str(failure.error)
    assert not failure.can_retry


def test_the_message_of_an_unknown_model_may_be_plain_text() -> None:
    bare = exceptions.ModelHTTPError(404, "m", "no such model", headers={"Content-Type": "application/json"})
    assert "check base_url" not in str(classify_error(bare, PROVIDER, "m").error)


@pytest.mark.parametrize(("delay", "after"), [("2s", 2.0), ("1.5s", 1.5), ("soon", None), (7, None), ("-1s", None)])
def test_google_s_retry_delay_is_read(delay: object, after: float | None) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.Help"}, 7, {"retryDelay": delay}]
    late = http(429, body={"error": {"code": 429, "details": details}})
    assert classify_error(late, PROVIDER, "m").retry_after == after
    assert classify_error(http(429, body={"error": "x"}), PROVIDER, "m").retry_after is None


def test_a_schema_beside_tools_is_an_error_with_our_message() -> None:
    cause = exceptions.UserError("This model does not support `NativeOutput` and function tools at the same time.")
    error = classify_error(cause, PROVIDER, "m").error
    assert isinstance(error, BadInput)
    assert "--no-tool-calls" in str(error)
    assert "NativeOutput" not in str(error)


def test_the_cause_of_a_connection_error_is_shown() -> None:
    outer = exceptions.ModelConnectionError("m", "Connection error.")
    outer.__cause__ = httpx2.ReadError("")
    outer.__cause__.__context__ = OSError(104, "Connection reset by peer")
    assert "reset by peer" in str(classify_error(outer, PROVIDER, "m").error)
    outer.__cause__.__context__ = OSError("[SSL: WRONG_VERSION_NUMBER] wrong version number")
    assert "does it speak http, not https?" in str(classify_error(outer, PROVIDER, "m").error)


@pytest.mark.parametrize("below", [CancelledError("Cancelled via cancel scope 7f"), ssl.SSLWantReadError("(_ssl.c:1)")])
def test_the_causes_of_a_timeout_are_not_shown(below: BaseException) -> None:
    outer = exceptions.ModelTimeoutError("m", "Request timed out.")
    outer.__cause__ = httpx2.ReadTimeout("")
    outer.__cause__.__cause__ = TimeoutError()
    outer.__cause__.__cause__.__context__ = below
    assert str(classify_error(outer, PROVIDER, "m").error).endswith("(model 'm'): Request timed out.")
    late = TimeoutError(110, "Connection timed out")
    late.__context__ = below
    cut = exceptions.ModelConnectionError("m", "Connection error.")
    cut.__cause__ = late
    assert str(classify_error(cut, PROVIDER, "m").error).endswith("Connection timed out")
    cut.__cause__ = below
    assert str(classify_error(cut, PROVIDER, "m").error).endswith("Connection error.")


def test_https_instead_of_http_is_recognized_above_the_deepest_cause() -> None:
    outer = exceptions.ModelConnectionError("m", "Connection error.")
    outer.__cause__ = httpx2.RemoteProtocolError(r"illegal status line: bytearray(b'\x15\x03\x01')")
    outer.__cause__.__context__ = ValueError("illegal request line")
    assert "does it speak https, not http?" in str(classify_error(outer, PROVIDER, "m").error)


def test_a_long_message_is_cut() -> None:
    assert len(str(classify_error(exceptions.UserError("x" * 10_000), PROVIDER, "m").error)) < 500
