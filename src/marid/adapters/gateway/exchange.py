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

from marid.adapters.gateway.failures import CUTS, FOREIGN, Failure, full, judged, unmade
from marid.adapters.gateway.journal import Journal
from marid.adapters.gateway.library import model_for, parameters_for, settings_for
from marid.adapters.gateway.omissions import omitted
from marid.adapters.gateway.patience import Patience
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.reading import Reader
from marid.adapters.gateway.translation import finish_of, history, is_full, refusal_of, reply_of, usage_of
from marid.adapters.gateway.wire import Wire
from marid.core.chat import (
    CallReady,
    ModelRequest,
    Noted,
    ReasoningDelta,
    TextDelta,
    Usage,
    message_tokens,
    request_tokens,
)
from marid.core.errors import Exhausted, Unavailable
from marid.ports.model import Take

# What is raised while a request is made out of what was said.
_LOCAL = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
_STREAMS = ("", "text/event-stream")


class Broken(Exception):
    """A try that failed, and what that means."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


class Setting(NamedTuple):
    """What all tries of one gateway have in common."""

    provider: Provider
    patience: Patience
    journal: Journal | None


class Exchange:
    """`given` is true once words or calls of the answer were given out: from then on the try cannot be repeated."""

    def __init__(self, setting: Setting, request: ModelRequest) -> None:
        self._provider, self._patience, journal = setting
        self._request = request
        self._wire = Wire(self._provider, self._patience, journal)
        self._stream: StreamedResponse | None = None
        self.given = False

    async def run(self, take: Take) -> None:
        """Give the whole answer to `take`. Raises: Broken."""
        try:
            with anyio.move_on_after(self._patience.whole) as whole:
                await self._converse(take)
        finally:
            self._wire.note_answer(self.usage() if self._wire.sifted else None)
        if whole.cancelled_caught:
            late = f"'{self._provider.place}' did not end its answer within {self._patience.whole:g} s"
            raise Broken(Failure(Exhausted(late), again=False))

    @property
    def counted(self) -> bool:
        """Whether the service may have counted something: it was asked, and did not begin with an error or a page."""
        wire = self._wire
        return wire.asked and not wire.sieve.refused and (wire.sieve.begun or wire.kind in _STREAMS)

    def usage(self) -> Usage:
        """What the answer cost so far: the provider's figures, or ours when it gave none."""
        response = self._stream.get() if self._stream else ModelResponse(parts=[])
        known = usage_of(response)
        if known and self._wire.sieve.ended:
            return known
        # Of an answer that broke off, a provider has counted the question at most.
        asked, answered = request_tokens(self._request), message_tokens(reply_of(response, self._request))
        return Usage(known.input if known else asked, max(answered, known.output if known else 0), estimated=True)

    async def _converse(self, take: Take) -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(httpx2.AsyncClient(transport=self._wire))
            self._stream = await self._open(client, stack)
            await self._tell_omitted(take)
            events = cast("AsyncGenerator[ModelResponseStreamEvent]", aiter(self._stream))
            await self._read(await stack.enter_async_context(aclosing(events)), take)
        self._check_whole()
        await self._end(self._stream.get(), take)

    async def _open(self, client: httpx2.AsyncClient, stack: AsyncExitStack) -> StreamedResponse:
        try:
            model = model_for(self._provider, self._request.model, client)
            opened = model_request_stream(
                model,
                history(self._request, self._provider.dialect, model.system),
                model_settings=settings_for(self._provider, self._request),
                model_request_parameters=parameters_for(self._request, self._provider.dialect),
            )
            return await stack.enter_async_context(opened)
        except FOREIGN as cause:
            raise self._broken(cause) from cause

    async def _tell_omitted(self, take: Take) -> None:
        wanted = self._request.parameters
        if names := omitted(wanted, self._provider.dialect, self._wire.sent):
            settings = ", ".join(f"api.{name}" for name in names)
            await take(Noted(f"model '{self._request.model}' takes no {settings} as it is asked now: not sent"))

    async def _read(self, events: AsyncIterator[ModelResponseStreamEvent], take: Take) -> None:
        translated = Reader(thoughts=not self._request.parameters.reasoning.exclude).events
        while True:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            except FOREIGN as cause:
                if self._wire.sieve.ended and isinstance(cause, CUTS):
                    return  # all was said; how the connection ends afterwards is nobody's concern
                raise self._broken(cause) from cause
            for each in translated(event):
                if not self.given:
                    self.given = type(each) is not ReasoningDelta
                await take(each)

    def _check_whole(self) -> None:
        """Some cuts look like an end: no error, and yet nobody said that the answer is complete. Raises: Broken."""
        failure = damage(self._wire, self._provider, self._request.model)
        if failure is None and not self._wire.sieve.ended:
            cut = f"'{self._provider.place}' broke off in the middle of its answer"
            failure = Failure(Unavailable(cut), again=True)
        if failure:
            raise Broken(failure)

    async def _end(self, response: ModelResponse, take: Take) -> None:
        if refusal := refusal_of(response):
            response.parts = [*response.parts, refusal]
            self.given = True
            await take(TextDelta(refusal.content))
        if is_full(response):
            raise Broken(full(self._provider))
        reply = reply_of(response, self._request)
        end = finish_of(response, reply)
        if end.reason == "error" and not self.given:
            failed = f"'{self._provider.place}' ended its answer with an error before it said anything"
            raise Broken(Failure(Unavailable(failed), again=True))
        for number, call in enumerate(reply.calls):
            await take(CallReady(number, call))
        await take(self.usage())
        await take(end)

    def _broken(self, cause: Exception) -> Broken:
        """What the wire has seen tells more than what the library makes of it."""
        provider, model = self._provider, self._request.model
        if not self._wire.sent and isinstance(cause, _LOCAL):
            return Broken(unmade(cause, provider, model))
        return Broken(damage(self._wire, provider, model) or judged(cause, provider, model))


def damage(wire: Wire, provider: Provider, model: str) -> Failure | None:
    """What is wrong with an answer of which something is lost. One that was none at all will be none the next time."""
    sieve, place = wire.sieve, f"'{provider.place}'"
    if wire.redirected:
        return Failure(Unavailable(f"{place} sends its callers elsewhere; check base_url"), again=False)
    if not wire.sifted:
        return None
    if not wire.readable:
        packed = f"{place} packs its answers by '{wire.packing}', which nobody asked for"
        return Failure(Unavailable(packed), again=False)
    if not (sieve.begun or sieve.ended or sieve.fault) and wire.kind not in _STREAMS:
        odd = f"{place} answered with '{wire.kind}' and not with the words of a model; check base_url"
        return Failure(Unavailable(odd), again=False)
    if sieve.fault and not sieve.complaint:
        return Failure(Unavailable(f"{place} {sieve.fault}: a part of the answer is lost"), again=True)
    return judged(ModelAPIError(model, sieve.complaint), provider, model) if sieve.complaint else None
