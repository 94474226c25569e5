"""One attempt at one answer. Imports the gateway library."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import cast

import anyio
import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse

from marid.adapters.gateway import message_translation as translation
from marid.adapters.gateway.failures import (
    CONNECTION_ERRORS,
    LIBRARY_ERRORS,
    WINDOW_FULL,
    ProviderFailure,
    classify_error,
)
from marid.adapters.gateway.library_request import dropped_parameters, model_for, parameters_for, settings_for
from marid.adapters.gateway.options import GatewayOptions
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.transport import ProviderTransport
from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.core.model_io import (
    CallReady,
    ModelRequest,
    ReasoningDelta,
    RequestNotice,
    TextDelta,
    ToolCall,
    Usage,
    message_tokens,
    request_tokens,
)
from marid.ports.model import OnModelEvent

# What the library raises while it builds a request out of the messages.
_LOCAL = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
_STREAMS = ("", "text/event-stream")


class AttemptFailed(Exception):
    """The attempt failed; `failure` says how."""

    def __init__(self, failure: ProviderFailure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


class Attempt:
    """`has_output` is true once text or calls of the answer were emitted: from then on it cannot be repeated."""

    def __init__(self, provider: Provider, options: GatewayOptions, request: ModelRequest) -> None:
        self._provider = provider
        self._total_timeout = options.retry_policy.total_timeout
        self._request = request
        self._transport = ProviderTransport(provider, options.retry_policy, options.wire_log)
        self._stream: StreamedResponse | None = None
        self.has_output = False

    async def run(self, on_event: OnModelEvent) -> None:
        """Emit the whole answer. Raises: AttemptFailed."""
        try:
            with anyio.move_on_after(self._total_timeout) as whole:
                await self._stream_reply(on_event)
        finally:
            self._transport.log_response(self.usage() if self._transport.has_validated_body else None)
        if whole.cancelled_caught:
            late = f"'{self._provider.host}' did not finish its answer within {self._total_timeout:g} s"
            raise AttemptFailed(ProviderFailure(Exhausted(late), can_retry=False))

    @property
    def is_billable(self) -> bool:
        """Whether the service may charge for it: it got the request and did not begin with an error or a page."""
        validator = self._transport.validator
        began = validator.has_events or self._transport.content_type in _STREAMS
        return self._transport.was_sent and began and not validator.began_with_error

    def usage(self) -> Usage:
        """What the answer cost so far: the provider's figures, or an estimate when it gave none."""
        response = self._stream.get() if self._stream else ModelResponse(parts=[])
        known = translation.usage_of(response)
        if known and self._transport.validator.is_complete:
            return known
        # For an answer that broke off, a provider has counted the question at most.
        asked, answered = request_tokens(self._request), message_tokens(translation.reply_of(response, self._request))
        return Usage(known.input if known else asked, max(answered, known.output if known else 0), estimated=True)

    async def _stream_reply(self, on_event: OnModelEvent) -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(httpx2.AsyncClient(transport=self._transport))
            self._stream = await self._open(client, stack)
            await self._report_dropped(on_event)
            events = cast("AsyncGenerator[ModelResponseStreamEvent]", aiter(self._stream))
            await self._forward_events(await stack.enter_async_context(aclosing(events)), on_event)
        self._check_complete()
        await self._finish_reply(self._stream.get(), on_event)

    async def _open(self, client: httpx2.AsyncClient, stack: AsyncExitStack) -> StreamedResponse:
        try:
            model = model_for(self._provider, self._request.model, client)
            opened = model_request_stream(
                model,
                translation.to_library_messages(self._request, self._provider.dialect, model.system),
                model_settings=settings_for(self._provider, self._request),
                model_request_parameters=parameters_for(self._request, self._provider.dialect),
            )
            return await stack.enter_async_context(opened)
        except LIBRARY_ERRORS as cause:
            raise self._wrap_error(cause) from cause

    async def _report_dropped(self, on_event: OnModelEvent) -> None:
        model, wanted = self._request.model, self._request.parameters
        if names := dropped_parameters(wanted, self._provider.dialect, self._transport.request_body):
            settings = ", ".join(f"api.{name}" for name in names)
            await on_event(RequestNotice(f"model '{model}' does not accept {settings} with these settings: not sent"))

    async def _forward_events(self, events: AsyncIterator[ModelResponseStreamEvent], on_event: OnModelEvent) -> None:
        translate = translation.EventTranslator(reasoning=not self._request.parameters.reasoning.exclude).translate
        while True:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            except LIBRARY_ERRORS as cause:
                if self._transport.validator.is_complete and isinstance(cause, CONNECTION_ERRORS):
                    return  # the answer is complete: how the connection ends does not matter
                raise self._wrap_error(cause) from cause
            for each in translate(event):
                if type(each) is not ReasoningDelta:
                    self.has_output = True
                await on_event(each)

    def _check_complete(self) -> None:
        """Some cuts look like an end: there is no error, but no sign that the answer is complete either."""
        failure = find_damage(self._transport, self._provider, self._request.model)
        if failure is None and not self._transport.validator.is_complete:
            cut = f"'{self._provider.host}' broke off in the middle of its answer"
            failure = ProviderFailure(Unavailable(cut), can_retry=True)
        if failure:
            raise AttemptFailed(failure)

    async def _finish_reply(self, response: ModelResponse, on_event: OnModelEvent) -> None:
        if refusal := translation.refusal_of(response):
            response.parts = [*response.parts, refusal]
            self.has_output = True
            await on_event(TextDelta(refusal.content))
        if translation.is_window_full(response):
            full = Exhausted(WINDOW_FULL.format(host=f"'{self._provider.host}'"))
            raise AttemptFailed(ProviderFailure(full, can_retry=False))
        reply = translation.reply_of(response, self._request)
        end = translation.finish_of(response, reply)
        if end.reason == "error" and not self.has_output:
            failed = f"'{self._provider.host}' ended its answer with an error before any output"
            raise AttemptFailed(ProviderFailure(Unavailable(failed), can_retry=True))
        for number, call in enumerate(part for part in reply.parts if isinstance(part, ToolCall)):
            await on_event(CallReady(number, call))
        await on_event(self.usage())
        await on_event(end)

    def _wrap_error(self, cause: Exception) -> AttemptFailed:
        """What the transport has seen says more than the library's error."""
        provider, model = self._provider, self._request.model
        if not self._transport.request_body and isinstance(cause, _LOCAL):
            message = f"this request cannot be sent to '{provider.host}' (model '{model}'): {cause}"
            return AttemptFailed(ProviderFailure(BadInput(message[:600]), can_retry=False))
        return AttemptFailed(find_damage(self._transport, provider, model) or classify_error(cause, provider, model))


def find_damage(transport: ProviderTransport, provider: Provider, model: str) -> ProviderFailure | None:
    """What is wrong with an answer that is incomplete, or that is not an answer at all."""
    validator, host = transport.validator, f"'{provider.host}'"
    if validator.error_text:
        return classify_error(ModelAPIError(model, validator.error_text), provider, model)
    if problem := _foreign_answer(transport):
        return ProviderFailure(Unavailable(f"{host} {problem}"), can_retry=False)
    if validator.fault:
        return ProviderFailure(Unavailable(f"{host} {validator.fault}: part of the answer is lost"), can_retry=True)
    return None


def _foreign_answer(transport: ProviderTransport) -> str:
    """Why the answer is not one of a model, and will not be the next time either."""
    validator = transport.validator
    if transport.is_redirected:
        return "redirects requests; check base_url"
    if not transport.has_validated_body:
        return ""
    if not transport.is_readable:
        return f"sends content-encoding '{transport.content_encoding}', which is not supported"
    if transport.content_type in _STREAMS or validator.has_events or validator.is_complete or validator.fault:
        return ""
    return f"answered with '{transport.content_type}', not with a model's answer; check base_url"
