"""One try at one answer. Imported when a model is asked: with it comes the gateway library."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import NamedTuple, cast

import anyio
import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse

from marid.adapters.gateway.failures import CUTS, FOREIGN, Failure, judged
from marid.adapters.gateway.journal import Journal
from marid.adapters.gateway.library import model_for, parameters_for, settings_for
from marid.adapters.gateway.patience import Patience
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.reading import Reader
from marid.adapters.gateway.translation import finish_of, history, refusal_of, reply_of, usage_of
from marid.adapters.gateway.wire import Wire
from marid.core.chat import CallReady, ModelRequest, TextDelta, Usage, message_tokens, request_tokens
from marid.core.errors import Exhausted, Unavailable
from marid.ports.model import Take


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
    """`given` is true once something of the answer was given out: from then on the try cannot be repeated."""

    def __init__(self, setting: Setting, request: ModelRequest) -> None:
        self._provider, self._patience, journal = setting
        self._request = request
        self._wire = Wire(self._provider, self._patience, journal)
        self._stream: StreamedResponse | None = None
        self.given = False

    async def run(self, take: Take) -> None:
        """Give the whole answer to `take`. Raises: Broken."""
        with anyio.move_on_after(self._patience.whole) as whole:
            await self._converse(take)
        if whole.cancelled_caught:
            late = f"'{self._provider.place}' did not end its answer within {self._patience.whole:g} s"
            raise Broken(Failure(Exhausted(late), again=False))

    def usage(self) -> Usage:
        """What the answer cost so far: the provider's figures, or ours when it gave none."""
        response = self._stream.get() if self._stream else ModelResponse(parts=[])
        known = usage_of(response)
        if known and (self._wire.sieve.ended or not self._wire.sifted):
            return known
        # Of an answer that broke off, a provider has counted the question at most.
        asked, answered = request_tokens(self._request), message_tokens(reply_of(response, self._request))
        return Usage(known.input if known else asked, max(answered, known.output if known else 0), estimated=True)

    async def _converse(self, take: Take) -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(httpx2.AsyncClient(transport=self._wire))
            self._stream = await self._open(client, stack)
            events = cast("AsyncGenerator[ModelResponseStreamEvent]", aiter(self._stream))
            await self._read(await stack.enter_async_context(aclosing(events)), take)
        self._check_whole()
        await self._end(self._stream.get(), take)

    async def _open(self, client: httpx2.AsyncClient, stack: AsyncExitStack) -> StreamedResponse:
        try:
            opened = model_request_stream(
                model_for(self._provider, self._request.model, client),
                history(self._request),
                model_settings=settings_for(self._provider, self._request),
                model_request_parameters=parameters_for(self._request),
            )
            return await stack.enter_async_context(opened)
        except FOREIGN as cause:
            raise self._broken(cause) from cause

    async def _read(self, events: AsyncIterator[ModelResponseStreamEvent], take: Take) -> None:
        translated = Reader().events
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
                self.given = True
                await take(each)

    def _check_whole(self) -> None:
        """Some cuts look like an end: no error, and yet nobody said that the answer is complete. Raises: Broken."""
        if self._wire.sifted and not self._wire.sieve.ended:
            cut = f"'{self._provider.place}' broke off in the middle of its answer"
            raise Broken(Failure(Unavailable(cut), again=True))

    async def _end(self, response: ModelResponse, take: Take) -> None:
        if refusal := refusal_of(response):
            response.parts = [*response.parts, refusal]
            self.given = True
            await take(TextDelta(refusal.content))
        reply = reply_of(response, self._request)
        for number, call in enumerate(reply.calls):
            await take(CallReady(number, call))
        await take(self.usage())
        await take(finish_of(response, reply))

    def _broken(self, cause: Exception) -> Broken:
        return Broken(judged(cause, self._provider, self._request.model))
