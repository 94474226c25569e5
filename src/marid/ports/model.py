"""Ports to models: those of a provider, and what is known about them."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from marid.core.model_io import GatewayEvent, ModelInfo, ModelRequest

OnModelEvent: TypeAlias = Callable[[GatewayEvent], Awaitable[None]]


class Model(Protocol):
    """The models of one provider. Any number of replies may stream at once."""

    @property
    def provider(self) -> str:
        """The provider's id."""
        ...

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        """Pass the reply to `on_event`, event by event; awaiting it holds back the next event.

        `RequestNotice` and `RetryScheduled` come first; then text, reasoning and parts of calls as they are made;
        then one `CallReady` per call, one `Usage`, and `Finished`, always last. If a reply breaks off, `Usage` is the
        last event. Cancelling closes the connection at once and, if the request was sent, reports its `Usage`. A failed
        request is retried at most 3 times, and only before any text or call was passed on. What a failed attempt cost
        comes as `Usage` before `RetryScheduled`; its reasoning is void.

        Raises:
            BadInput: the provider rejects the request.
            Refused: the key is unknown, or not allowed to do this.
            NotFound: the provider does not have the model.
            Exhausted: the context window, the account, the budget or the time is used up.
            Unavailable: the provider cannot be reached, failed, or broke off within the reply.
        """
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models that the provider offers now. Raises: as `stream`."""
        ...

    async def info(self, name: str) -> ModelInfo:
        """What is known about a model, from our own table or else from the provider's list.

        Raises: NotFound if neither has it; Refused, Unavailable if the provider's list is needed and fails.
        """
        ...

    def context_window(self, name: str) -> int:
        """The model's context window in tokens, if it is known without network, or else 0."""
        ...


class ModelLookup(Protocol):
    """What is known about the models of the conversation's provider, for tools."""

    async def info(self, name: str) -> ModelInfo:
        """As `Model.info`."""
        ...
