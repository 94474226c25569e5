"""Models that answer: over the network, or without one."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, runtime_checkable

from marid.core.model_io import GatewayEvent, ModelInfo, ModelRequest

OnModelEvent: TypeAlias = Callable[[GatewayEvent], Awaitable[None]]


class Model(Protocol):
    """The models of one provider. Any number of answers may come in at once."""

    @property
    def provider(self) -> str:
        """The provider's id."""
        ...

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        """Give the answer to `take`, event by event, each when it comes; the wait for `take` holds back the next.

        `RequestNotice` and `Retrying` come first; then text, reasoning and pieces of calls as the model makes them;
        then one `CallReady` for each call, one `Usage`, and `Finished`, always last. When an answer breaks off, `Usage`
        is the last event. Cancelling closes the connection at once and gives, where the request had gone out, its
        `Usage`. Before text or calls were given out, a service that fails is asked again, at most 3 times; after that
        never. What such a try may have cost comes as `Usage` before `Retrying`; its thoughts do not count any more.

        Raises:
            BadInput: the provider takes no such request.
            Refused: it does not know the key, or the key may not do this.
            NotFound: it does not know the model.
            Exhausted: the context window, the account, the budget or the time is used up.
            Unavailable: it cannot be reached, failed, or broke off in the middle of the answer.
        """
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """What the provider offers now. Raises: as `stream`."""
        ...

    async def info(self, name: str) -> ModelInfo:
        """What is known about a model, from our own table, else from the provider's list.

        Raises:
            NotFound: neither knows it.
            Refused, Unavailable: our table does not know it, and the provider cannot be asked.
        """
        ...

    def context_window(self, name: str) -> int:
        """How many tokens the model can take in, as far as that is known without network; else 0."""
        ...


@runtime_checkable
class Warmable(Protocol):
    """What takes long to get ready, and can do so while other work goes on."""

    def warm(self) -> None:
        """Get ready; called in a thread. What goes wrong here is told by whoever needs it."""
        ...
