"""What went wrong at a provider, in our families. Imported when a model is asked."""

from typing import Any, NamedTuple, cast

import httpx2
from pydantic import ValidationError
from pydantic_ai import exceptions

from marid.adapters.gateway.masking import Veil
from marid.adapters.gateway.providers import Provider
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable

# What the library and the providers' clients raise; the plain ones come from answers of a shape that nobody expects.
FOREIGN = (
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
CUTS = (exceptions.ModelConnectionError, httpx2.TransportError)
_LONGEST = 300
_CLIENT_ERRORS = range(400, 500)
_PASSING = (408, 409, 425)


class Failure(NamedTuple):
    """An error of ours, whether the same request may do better next time, and when the service says that it will."""

    error: MaridError
    again: bool
    after: float | None = None


# The first kind that fits counts. Whoever is not named here failed in a way that may pass.
_KINDS: tuple[tuple[type[Exception], type[MaridError], str], ...] = (
    (exceptions.ModelContextWindowExceededError, Exhausted, "the context window of this model of {place} is full"),
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


def judged(cause: Exception, provider: Provider, model: str) -> Failure:
    """What `cause` means to the caller."""
    status = cause.status_code if isinstance(cause, exceptions.ModelHTTPError) else 0
    family, saying = _STATUSES.get(status) or next(row[1:] for row in _KINDS if isinstance(cause, row[0]))
    if family is Unavailable and status in _CLIENT_ERRORS and not _may_pass(cause, status):
        family, saying = BadInput, "{place} does not take this request"
    words = Veil(provider.api_key).text(_words(cause, status))[:_LONGEST]
    told = saying.format(place=f"'{provider.place}'")
    error = family(f"{told} (model '{model}'): {words}")
    after = cause.retry_after if isinstance(cause, exceptions.ModelAPIError) else None
    return Failure(error, again=family is Unavailable, after=after)


def _may_pass(cause: Exception, status: int) -> bool:
    return status in _PASSING or isinstance(cause, exceptions.ModelRateLimitError)


def _words(cause: Exception, status: int) -> str:
    """The provider's own words where it has some, on one line."""
    told = _told(getattr(cause, "body", None)) or _deepest(cause)
    line = " ".join("".join(char if char.isprintable() else " " for char in told[: 4 * _LONGEST]).split())
    return f"status {status}, {line}" if status else line


def _deepest(cause: BaseException) -> str:
    """What the connection itself said: the clients above it only say that it failed."""
    told = str(cause) or type(cause).__name__
    seen = cause
    while isinstance(cause, exceptions.ModelConnectionError | httpx2.HTTPError) and seen.__cause__:
        seen = seen.__cause__
        told = str(seen) or told
    return told


def _told(body: object) -> str:
    """The message inside of an error body, at whatever depth the dialect puts it."""
    while isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        body = fields.get("message") or fields.get("error")
    return body if isinstance(body, str) else ""
