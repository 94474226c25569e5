"""Errors of providers and of the gateway library as our error families. Imports the gateway library."""

import re
import ssl
from math import isfinite
from typing import NamedTuple

import httpx2
from pydantic import ValidationError
from pydantic_ai import exceptions

from marid.adapters.gateway.providers import Provider, error_message
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable
from marid.text.json_values import as_object, as_objects, is_list, is_object
from marid.text.secrets.masker import Redactor

# Raised by the library and the providers' clients; the built-in ones come from answers of an unexpected shape.
LIBRARY_ERRORS = (
    *(exceptions.AgentRunError, exceptions.UserError, httpx2.HTTPError, httpx2.StreamError, ValidationError),
    *(ValueError, TypeError, AttributeError, LookupError, AssertionError),
)
CONNECTION_ERRORS = (exceptions.ModelConnectionError, httpx2.TransportError)
_MAX_MESSAGE = 300
_CLIENT_ERRORS = range(400, 500)
_TOO_MANY, _NOT_FOUND = 429, 404
# Not a fault of the request, but not to be retried either.
_TRANSIENT_STATUSES = (408, 409, 425)


class ProviderFailure(NamedTuple):
    """Our error, whether to send the same request again, and after how many seconds the service asks for it."""

    error: MaridError
    can_retry: bool
    retry_after: float | None = None


WINDOW_FULL = (
    "the context window of this model of {host} is full: run `marid clear`, start a new conversation, "
    "or use a model with a larger window"
)
# The messages of LM Studio, llama.cpp, Ollama and vLLM; the library knows those of OpenAI.
_WINDOW_FULL_PATTERN = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum (?:context|model|input) length"
    r"|(?:exceed|too long|too large|greater than|longer than|overflow|reached).{0,80}\bcontext (?:size|length|window)"
    r"|context (?:size|length|window).{0,60}(?:exceed|overflow|too small|not enough|of only)"
    r"|exceed.{0,20} context limit|`inputs` tokens \+ `max_new_tokens` must be",
    re.IGNORECASE | re.DOTALL,
)
# Signs that https was spoken to a service of http, or the other way round.
_TLS = {"WRONG_VERSION_NUMBER": "; does it speak http, not https?", "\\x15\\x03": "; does it speak https, not http?"}
_MAX_CAUSES = 20
_TIMEOUT_ERRORS = (exceptions.ModelTimeoutError, httpx2.TimeoutException, TimeoutError)
_TLS_WAIT_ERRORS = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
_NOT_THE_SIZE = (401, 402, 403, 404, 407, _TOO_MANY)
# The answer of LM Studio, with status 200, on an unknown path.
_NO_SUCH_PATH = "unexpected endpoint or method"
_WRONG_ADDRESS = "{host} has no models at this address; check base_url"
_SCHEMA_OR_TOOLS = "api.response_format with a schema cannot be combined with tools; use --no-tool-calls"
# The first row that fits counts.
_ERROR_TABLE: tuple[tuple[type[Exception], type[MaridError], str], ...] = (
    (exceptions.ModelContextWindowExceededError, Exhausted, WINDOW_FULL),
    (exceptions.ModelQuotaExceededError, Exhausted, "the quota of the account at {host} is used up"),
    (exceptions.ModelNotFoundError, NotFound, "{host} does not know the model"),
    (exceptions.ModelAuthenticationError, Refused, "{host} refused the key; check api_key"),
    (exceptions.ModelRateLimitError, Unavailable, "{host} limits the rate of requests"),
    (exceptions.ModelRequestRejectedError, BadInput, "{host} rejected the request"),
    (exceptions.UserError, BadInput, "this request cannot be sent to {host}"),
    (exceptions.ModelTimeoutError, Unavailable, "{host} timed out"),
    (httpx2.TimeoutException, Unavailable, "{host} timed out"),
    (exceptions.ModelAPIError, Unavailable, "{host} failed"),
    (httpx2.HTTPError, Unavailable, "the connection to {host} failed"),
    (Exception, Unavailable, "{host} sent an invalid answer"),
)
_STATUSES: dict[int, tuple[type[MaridError], str]] = {
    407: (Refused, "a proxy in front of {host} requires a password"),
    413: (Exhausted, "the request is too large for {host}"),
}


def classify_error(cause: Exception, provider: Provider, model: str) -> ProviderFailure:
    """`cause` as one of our errors, with the provider's own message."""
    status = cause.status_code if isinstance(cause, exceptions.ModelHTTPError) else 0
    message = error_message(getattr(cause, "body", None)) or _deepest_message(cause)
    message = " ".join("".join(char if char.isprintable() else " " for char in message[: 4 * _MAX_MESSAGE]).split())
    message = f"status {status}, {message}" if status else message
    family, summary, can_retry = _classify(cause, status, message)
    if isinstance(cause, exceptions.UserError) and "NativeOutput" in message:
        message = _SCHEMA_OR_TOOLS
    message = Redactor(*provider.secrets).redact_text(message)[:_MAX_MESSAGE]
    summary = summary.format(host=f"'{provider.host}'")
    return ProviderFailure(family(f"{summary} (model '{model}'): {message}"), can_retry, _retry_after(cause))


def _classify(cause: Exception, status: int, message: str) -> tuple[type[MaridError], str, bool]:
    """The family, the summary before the service's message, and whether a retry makes sense."""
    if isinstance(cause, exceptions.ModelAPIError):
        # A service that the library does not know may say so too.
        kind = f"{cause.provider_error_code} {cause.provider_error_type}"
        if status not in _NOT_THE_SIZE and _WINDOW_FULL_PATTERN.search(f"{kind} {message}"):
            return Exhausted, WINDOW_FULL, False
        if (status == _NOT_FOUND and not _is_service_error(cause)) or _NO_SUCH_PATH in message.lower():
            return Unavailable, _WRONG_ADDRESS, False
    family, summary = _STATUSES.get(status) or next(row[1:] for row in _ERROR_TABLE if isinstance(cause, row[0]))
    if family is Unavailable and status in _CLIENT_ERRORS and status not in (*_TRANSIENT_STATUSES, _TOO_MANY):
        family, summary = BadInput, "{host} rejected the request"
    return family, summary, family is Unavailable and status not in _TRANSIENT_STATUSES


def _retry_after(cause: Exception) -> float | None:
    """Seconds to wait before a retry; the library reads whole seconds only."""
    if not isinstance(cause, exceptions.ModelAPIError) or cause.retry_after is not None:
        return getattr(cause, "retry_after", None)
    try:
        seconds = float(_headers(cause).get("retry-after") or _google_retry_delay(cause.body))
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _is_service_error(cause: exceptions.ModelAPIError) -> bool:
    """Whether the error comes from a service of models, not from a web server or framework in its place."""
    body = cause.body
    while is_list(body) and body:
        body = body[0]
    if is_object(body):
        return not {"error", "message"}.isdisjoint(body)
    return isinstance(body, str) and "json" in _headers(cause).get("content-type", "")


def _headers(cause: exceptions.ModelAPIError) -> dict[str, str]:
    headers = cause.headers if isinstance(cause, exceptions.ModelHTTPError) else None
    return {name.lower(): value for name, value in (headers or {}).items()}


def _google_retry_delay(body: object) -> str:
    """The seconds inside an error of Google's: `"retryDelay": "2s"`."""
    fields = as_object(body)
    details = as_objects(as_object(fields.get("error") or fields).get("details"))
    delays = (detail.get("retryDelay") for detail in details)
    return next((delay.removesuffix("s") for delay in delays if isinstance(delay, str)), "")


def _deepest_message(cause: BaseException) -> str:
    """The message of the connection itself, which the clients above it hide; below a timeout there is none."""
    messages = [str(cause) or type(cause).__name__]
    seen: BaseException | None = cause
    if isinstance(cause, exceptions.ModelConnectionError | httpx2.HTTPError):
        for _ in range(_MAX_CAUSES):
            seen = None if isinstance(seen, _TIMEOUT_ERRORS) else seen.__cause__ or seen.__context__
            if not isinstance(seen, Exception) or isinstance(seen, _TLS_WAIT_ERRORS):
                break
            messages.append(str(seen) or messages[-1])
    return messages[-1] + next((hint for sign, hint in _TLS.items() if any(sign in text for text in messages)), "")
