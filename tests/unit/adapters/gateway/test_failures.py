"""Foreign errors in our families."""

import httpx2
import pytest
from pydantic_ai import exceptions

from marid.adapters.gateway.failures import FOREIGN, judged
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
        (http(404, exceptions.ModelNotFoundError), NotFound, False),
        (http(401, exceptions.ModelAuthenticationError), Refused, False),
        (http(400, exceptions.ModelRequestRejectedError), BadInput, False),
        (http(422), BadInput, False),
        (http(418), BadInput, False),
        (http(407), Refused, False),
        (http(413), Exhausted, False),
        (http(408), Unavailable, True),
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
    assert isinstance(cause, FOREIGN)
    failure = judged(cause, PROVIDER, "m-1")
    assert type(failure.error) is family
    assert failure.again is again
    assert "'host:1'" in str(failure.error)
    assert "'m-1'" in str(failure.error)


def test_the_providers_own_words_are_told_without_the_key() -> None:
    body = {"error": {"message": f"bad key {KEY}\n\x1b[31mred", "code": 1}}
    told = str(judged(http(401, exceptions.ModelAuthenticationError, body), PROVIDER, "m").error)
    assert "bad key [masked] [31mred" in told
    assert KEY not in told


def test_what_the_connection_said_is_told_rather_than_that_it_failed() -> None:
    outer = exceptions.ModelConnectionError("m", "Connection error.")
    outer.__cause__ = httpx2.ConnectError("")
    outer.__cause__.__cause__ = OSError("Name or service not known")
    assert "Name or service not known" in str(judged(outer, PROVIDER, "m").error)


def test_when_to_come_back_is_kept() -> None:
    late = exceptions.ModelHTTPError(503, "m", headers={"Retry-After": "7"})
    assert judged(late, PROVIDER, "m").after == 7.0


def test_a_long_complaint_is_cut() -> None:
    assert len(str(judged(exceptions.UserError("x" * 10_000), PROVIDER, "m").error)) < 500
