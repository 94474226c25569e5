"""One try at one answer. Imported when a model is asked: with it comes the gateway library."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import NamedTuple, cast

import anyio
import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse

from marid.adapters.gateway.dropped_params import dropped_parameters
from marid.adapters.gateway.event_translator import EventTranslator
from marid.adapters.gateway.failures import (
    CONNECTION_ERRORS,
    LIBRARY_ERRORS,
    ProviderFailure,
    classify_error,
    unsent_failure,
    window_full_failure,
)
from marid.adapters.gateway.library_request import model_for, parameters_for, settings_for
from marid.adapters.gateway.message_translation import (
    finish_of,
    is_window_full,
    refusal_of,
    reply_of,
    to_library_messages,
    usage_of,
)
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.retry_policy import RetryPolicy
from marid.adapters.gateway.transport import ProviderTransport
from marid.adapters.gateway.wire_log import WireLog
from marid.core.errors import Exhausted, Unavailable
from marid.core.model_io import (
    CallReady,
    ModelRequest,
    ReasoningDelta,
    RequestNotice,
    TextDelta,
    Usage,
    message_tokens,
    request_tokens,
)
from marid.ports.model import OnModelEvent

# What is raised while a request is made out of what was said.
_LOCAL = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
_STREAMS = ("", "text/event-stream")


class AttemptFailed(Exception):
    """A try that failed, and what that means."""

    def __init__(self, failure: ProviderFailure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


class AttemptConfig(NamedTuple):
    """What all tries of one gateway have in common."""

    provider: Provider
    retry_policy: RetryPolicy
    wire_log: WireLog | None


class Attempt:
    """`given` is true once words or calls of the answer were given out: from then on the try cannot be repeated."""

    def __init__(self, setting: AttemptConfig, request: ModelRequest) -> None:
        self._provider, self._retry_policy, journal = setting
        self._request = request
        self._transport = ProviderTransport(self._provider, self._retry_policy, journal)
        self._stream: StreamedResponse | None = None
        self.has_output = False

    async def run(self, take: OnModelEvent) -> None:
        """Give the whole answer to `take`. Raises: Broken."""
        try:
            with anyio.move_on_after(self._retry_policy.total_timeout) as whole:
                await self._stream_reply(take)
        finally:
            self._transport.log_response(self.usage() if self._transport.has_validated_body else None)
        if whole.cancelled_caught:
            late = f"'{self._provider.host}' did not end its answer within {self._retry_policy.total_timeout:g} s"
            raise AttemptFailed(ProviderFailure(Exhausted(late), can_retry=False))

    @property
    def is_billable(self) -> bool:
        """Whether the service may have counted something: it was asked, and did not begin with an error or a page."""
        wire = self._transport
        return (
            wire.was_sent
            and not wire.validator.began_with_error
            and (wire.validator.has_events or wire.content_type in _STREAMS)
        )

    def usage(self) -> Usage:
        """What the answer cost so far: the provider's figures, or ours when it gave none."""
        response = self._stream.get() if self._stream else ModelResponse(parts=[])
        known = usage_of(response)
        if known and self._transport.validator.is_complete:
            return known
        # Of an answer that broke off, a provider has counted the question at most.
        asked, answered = request_tokens(self._request), message_tokens(reply_of(response, self._request))
        return Usage(known.input if known else asked, max(answered, known.output if known else 0), estimated=True)

    async def _stream_reply(self, take: OnModelEvent) -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(httpx2.AsyncClient(transport=self._transport))
            self._stream = await self._open(client, stack)
            await self._report_dropped(take)
            events = cast("AsyncGenerator[ModelResponseStreamEvent]", aiter(self._stream))
            await self._forward_events(await stack.enter_async_context(aclosing(events)), take)
        self._check_complete()
        await self._finish_reply(self._stream.get(), take)

    async def _open(self, client: httpx2.AsyncClient, stack: AsyncExitStack) -> StreamedResponse:
        try:
            model = model_for(self._provider, self._request.model, client)
            opened = model_request_stream(
                model,
                to_library_messages(self._request, self._provider.dialect, model.system),
                model_settings=settings_for(self._provider, self._request),
                model_request_parameters=parameters_for(self._request, self._provider.dialect),
            )
            return await stack.enter_async_context(opened)
        except LIBRARY_ERRORS as cause:
            raise self._wrap_error(cause) from cause

    async def _report_dropped(self, take: OnModelEvent) -> None:
        wanted = self._request.parameters
        if names := dropped_parameters(wanted, self._provider.dialect, self._transport.request_body):
            settings = ", ".join(f"api.{name}" for name in names)
            await take(RequestNotice(f"model '{self._request.model}' takes no {settings} as it is asked now: not sent"))

    async def _forward_events(self, events: AsyncIterator[ModelResponseStreamEvent], take: OnModelEvent) -> None:
        translated = EventTranslator(thoughts=not self._request.parameters.reasoning.exclude).translate
        while True:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            except LIBRARY_ERRORS as cause:
                if self._transport.validator.is_complete and isinstance(cause, CONNECTION_ERRORS):
                    return  # all was said; how the connection ends afterwards is nobody's concern
                raise self._wrap_error(cause) from cause
            for each in translated(event):
                if not self.has_output:
                    self.has_output = type(each) is not ReasoningDelta
                await take(each)

    def _check_complete(self) -> None:
        """Some cuts look like an end: no error, and yet nobody said that the answer is complete. Raises: Broken."""
        failure = find_damage(self._transport, self._provider, self._request.model)
        if failure is None and not self._transport.validator.is_complete:
            cut = f"'{self._provider.host}' broke off in the middle of its answer"
            failure = ProviderFailure(Unavailable(cut), can_retry=True)
        if failure:
            raise AttemptFailed(failure)

    async def _finish_reply(self, response: ModelResponse, take: OnModelEvent) -> None:
        if refusal := refusal_of(response):
            response.parts = [*response.parts, refusal]
            self.has_output = True
            await take(TextDelta(refusal.content))
        if is_window_full(response):
            raise AttemptFailed(window_full_failure(self._provider))
        reply = reply_of(response, self._request)
        end = finish_of(response, reply)
        if end.reason == "error" and not self.has_output:
            failed = f"'{self._provider.host}' ended its answer with an error before it said anything"
            raise AttemptFailed(ProviderFailure(Unavailable(failed), can_retry=True))
        for number, call in enumerate(reply.calls):
            await take(CallReady(number, call))
        await take(self.usage())
        await take(end)

    def _wrap_error(self, cause: Exception) -> AttemptFailed:
        """What the wire has seen tells more than what the library makes of it."""
        provider, model = self._provider, self._request.model
        if not self._transport.request_body and isinstance(cause, _LOCAL):
            return AttemptFailed(unsent_failure(cause, provider, model))
        return AttemptFailed(find_damage(self._transport, provider, model) or classify_error(cause, provider, model))


def find_damage(transport: ProviderTransport, provider: Provider, model: str) -> ProviderFailure | None:
    """What is wrong with an answer of which something is lost. One that was none at all will be none the next time."""
    sieve, place = transport.validator, f"'{provider.host}'"
    if transport.is_redirected:
        return ProviderFailure(Unavailable(f"{place} sends its callers elsewhere; check base_url"), can_retry=False)
    if not transport.has_validated_body:
        return None
    if not transport.is_readable:
        packed = f"{place} packs its answers by '{transport.content_encoding}', which nobody asked for"
        return ProviderFailure(Unavailable(packed), can_retry=False)
    if not (sieve.has_events or sieve.is_complete or sieve.fault) and transport.content_type not in _STREAMS:
        odd = f"{place} answered with '{transport.content_type}' and not with the words of a model; check base_url"
        return ProviderFailure(Unavailable(odd), can_retry=False)
    if sieve.fault and not sieve.error_text:
        return ProviderFailure(Unavailable(f"{place} {sieve.fault}: a part of the answer is lost"), can_retry=True)
    return classify_error(ModelAPIError(model, sieve.error_text), provider, model) if sieve.error_text else None
