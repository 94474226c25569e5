"""What went wrong at a provider, in our families. Imported when a model is asked."""

import re
import ssl
from math import isfinite
from typing import Any, NamedTuple, cast

import httpx2
from pydantic import ValidationError
from pydantic_ai import exceptions

from marid.adapters.gateway.chunk_normalizer import error_message
from marid.adapters.gateway.providers import Provider
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable
from marid.text.secrets.redact import Redactor

# What the library and the providers' clients raise; the plain ones come from answers of a shape that nobody expects.
LIBRARY_ERRORS = (
    exceptions.AgentRunError,
    exceptions.UserError,
    httpx2.HTTPError,
    httpx2.StreamError,
    ValidationError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    AssertionError,
)
CONNECTION_ERRORS = (exceptions.ModelConnectionError, httpx2.TransportError)
_MAX_MESSAGE = 300
_CLIENT_ERRORS = range(400, 500)
_TOO_MANY, _NOT_FOUND = 429, 404
# Not a fault of the request, and yet nothing that asking again is meant for.
_TRANSIENT_STATUSES = (408, 409, 425)


class ProviderFailure(NamedTuple):
    """An error of ours, whether the same request may do better next time, and when the service says that it will."""

    error: MaridError
    can_retry: bool
    retry_after: float | None = None


_WINDOW_FULL = (
    "the context window of this model of {place} is full: to clear it, to begin a new conversation, "
    "or a model that takes more would help"
)
# How those who serve open models say so: LM Studio, llama.cpp, Ollama, vLLM; the library knows OpenAI's own words.
_WINDOW_FULL_PATTERN = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum (?:context|model|input) length"
    r"|(?:exceed|too long|too large|greater than|longer than|overflow|reached).{0,80}\bcontext (?:size|length|window)"
    r"|context (?:size|length|window).{0,60}(?:exceed|overflow|too small|not enough|of only)"
    r"|exceed.{0,20} context limit|`inputs` tokens \+ `max_new_tokens` must be",
    re.IGNORECASE | re.DOTALL,
)
# How a service shows that it speaks https on a port where http was spoken, or the other way round.
_TLS = {"WRONG_VERSION_NUMBER": "; does it speak http, not https?", "\\x15\\x03": "; does it speak https, not http?"}
_MAX_CAUSES = 20
_TIMEOUT_ERRORS = (exceptions.ModelTimeoutError, httpx2.TimeoutException, TimeoutError)
_TLS_WAIT_ERRORS = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
_NOT_THE_SIZE = (401, 402, 403, 404, 407, _TOO_MANY)
# What LM Studio answers, with a good status, on a path that it does not know.
_NO_SUCH_PATH = "unexpected endpoint or method"
_WRONG_ADDRESS = "{place} has no models at this address; check base_url"
_SCHEMA_OR_TOOLS = "it takes no api.response_format with a schema beside tools; --no-tool-calls leaves them out"
# The first kind that fits counts. Whoever is not named here failed in a way that may pass.
_ERROR_TABLE: tuple[tuple[type[Exception], type[MaridError], str], ...] = (
    (exceptions.ModelContextWindowExceededError, Exhausted, _WINDOW_FULL),
    (exceptions.ModelQuotaExceededError, Exhausted, "{place} says that the account is used up"),
    (exceptions.ModelNotFoundError, NotFound, "{place} does not know the model"),
    (exceptions.ModelAuthenticationError, Refused, "{place} refused the key; check api_key"),
    (exceptions.ModelRateLimitError, Unavailable, "{place} gets too many requests"),
    (exceptions.ModelRequestRejectedError, BadInput, "{place} does not take this request"),
    (exceptions.UserError, BadInput, "{place} cannot be asked like this"),
    (exceptions.ModelTimeoutError, Unavailable, "{place} was silent for too long"),
    (httpx2.TimeoutException, Unavailable, "{place} was silent for too long"),
    (exceptions.ModelAPIError, Unavailable, "{place} failed"),
    (httpx2.HTTPError, Unavailable, "the connection to {place} failed"),
    (Exception, Unavailable, "{place} sent what is no valid answer"),
)
_STATUSES: dict[int, tuple[type[MaridError], str]] = {
    407: (Refused, "a proxy before {place} wants its own password"),
    413: (Exhausted, "the request is too large for {place}"),
}


def window_full_failure(provider: Provider) -> ProviderFailure:
    """The window has no room for the rest of an answer."""
    return ProviderFailure(Exhausted(_WINDOW_FULL.format(place=f"'{provider.host}'")), can_retry=False)


def unsent_failure(cause: Exception, provider: Provider, model: str) -> ProviderFailure:
    """Nothing was sent: what is wrong is wrong here, and will be the next time."""
    words = f"'{provider.host}' cannot be asked like this (model '{model}'): {cause}"
    return ProviderFailure(BadInput(words[: 2 * _MAX_MESSAGE]), can_retry=False)


def classify_error(cause: Exception, provider: Provider, model: str) -> ProviderFailure:
    """What `cause` means to the caller."""
    status = cause.status_code if isinstance(cause, exceptions.ModelHTTPError) else 0
    told = _error_line(cause, status)
    family, saying, again = _classify(cause, status, told)
    if isinstance(cause, exceptions.UserError) and "NativeOutput" in told:
        told = _SCHEMA_OR_TOOLS
    words = Redactor(*provider.secrets).redact_text(told)[:_MAX_MESSAGE]
    said = saying.format(place=f"'{provider.host}'")
    error = family(f"{said} (model '{model}'): {words}")
    return ProviderFailure(error, again, retry_after=_retry_after(cause))


def _classify(cause: Exception, status: int, told: str) -> tuple[type[MaridError], str, bool]:
    """The family, what is said before the words of the service, and whether it may be asked again."""
    if isinstance(cause, exceptions.ModelAPIError):
        if _is_full(cause, status, told):
            return Exhausted, _WINDOW_FULL, False
        if (status == _NOT_FOUND and not _is_service_error(cause)) or _NO_SUCH_PATH in told.lower():
            return Unavailable, _WRONG_ADDRESS, False
    family, saying = _STATUSES.get(status) or next(row[1:] for row in _ERROR_TABLE if isinstance(cause, row[0]))
    if family is Unavailable and status in _CLIENT_ERRORS and status not in (*_TRANSIENT_STATUSES, _TOO_MANY):
        family, saying = BadInput, "{place} does not take this request"
    return family, saying, family is Unavailable and status not in _TRANSIENT_STATUSES


def _is_full(cause: exceptions.ModelAPIError, status: int, told: str) -> bool:
    """Whether the window is full, in the words of others than the library knows."""
    kind = f"{cause.provider_error_code} {cause.provider_error_type}"
    return status not in _NOT_THE_SIZE and bool(_WINDOW_FULL_PATTERN.search(f"{kind} {told}"))


def _retry_after(cause: Exception) -> float | None:
    """When to come back; the library reads whole seconds only."""
    if not isinstance(cause, exceptions.ModelAPIError) or cause.retry_after is not None:
        return getattr(cause, "retry_after", None)
    try:
        seconds = float(_headers(cause).get("retry-after") or _google_retry_delay(cause.body))
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _is_service_error(cause: exceptions.ModelAPIError) -> bool:
    """Whether an error is one of a service for models: a page, or what a framework says of itself, is none."""
    body = cause.body
    while isinstance(body, list) and body:
        body = cast("list[object]", body)[0]
    if isinstance(body, dict):
        return not {"error", "message"}.isdisjoint(cast("dict[str, Any]", body))
    return isinstance(body, str) and "json" in _headers(cause).get("content-type", "")


def _headers(cause: exceptions.ModelAPIError) -> dict[str, str]:
    headers = cause.headers if isinstance(cause, exceptions.ModelHTTPError) else None
    return {name.lower(): value for name, value in (headers or {}).items()}


def _google_retry_delay(body: object) -> str:
    """The seconds that Google's errors name inside: `"retryDelay": "2s"`."""
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    inner: object = fields.get("error") or fields
    details: object = cast("dict[str, Any]", inner).get("details") if isinstance(inner, dict) else None
    for detail in cast("list[object]", details) if isinstance(details, list) else []:
        delay: object = cast("dict[str, Any]", detail).get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str):
            return delay.removesuffix("s")
    return ""


def _error_line(cause: Exception, status: int) -> str:
    """The provider's own words where it has some, on one line."""
    told = error_message(getattr(cause, "body", None)) or _deepest_message(cause)
    line = " ".join("".join(char if char.isprintable() else " " for char in told[: 4 * _MAX_MESSAGE]).split())
    return f"status {status}, {line}" if status else line


def _deepest_message(cause: BaseException) -> str:
    """What the connection itself said: the clients above it only say that it failed.

    Below a time-out there is only how the waiting was done.
    """
    told = [str(cause) or type(cause).__name__]
    seen: BaseException | None = cause
    if isinstance(cause, exceptions.ModelConnectionError | httpx2.HTTPError):
        for _ in range(_MAX_CAUSES):
            seen = None if isinstance(seen, _TIMEOUT_ERRORS) else seen.__cause__ or seen.__context__
            if not isinstance(seen, Exception) or isinstance(seen, _TLS_WAIT_ERRORS):
                break
            told.append(str(seen) or told[-1])
    return told[-1] + next((hint for sign, hint in _TLS.items() if any(sign in words for words in told)), "")
