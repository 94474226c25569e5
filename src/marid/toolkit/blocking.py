"""Call a tool without an event loop, for a program that makes one call and waits for it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, TypeVar

from marid.ports.audit import AuditLog
from marid.toolkit.dispatch import CallState, PlanHandler
from marid.toolkit.outcome import BodyResult, ToolOutput
from marid.toolkit.questions import Preview

T = TypeVar("T")


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits. Raises: RuntimeError if it waits for an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("the coroutine waits for an event loop")


class BlockingThreads:
    """The port WorkThreads for a caller that blocks until the work is done."""

    async def run(self, work: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ASYNC109 - no event loop keeps it
        """The result of `work`, in this thread unless it has a time limit. Raises: what `work` raises, TimeoutError."""
        if timeout is None:
            return work()
        results: list[T] = []
        errors: list[BaseException] = []

        def keep_result() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - raised below, where it is awaited
                errors.append(error)

        thread = Thread(target=keep_result, daemon=True, name="marid tool")
        thread.start()
        thread.join(timeout)
        if errors:
            raise errors[0]
        if not results:
            raise TimeoutError
        return results[0]

    async def run_to_end(self, work: Callable[[], T], timeout: float | None = None) -> T:  # noqa: ASYNC109 - as above
        """The same: nothing cancels a caller that blocks."""
        return await self.run(work, timeout)


@dataclass(frozen=True, kw_only=True)
class BlockingPlanHandler:
    """Starts an event loop for what needs one: a question or a plan. `make_handler` makes what handles it there."""

    audit: AuditLog
    make_handler: Callable[[], PlanHandler]
    threads: BlockingThreads = field(default_factory=BlockingThreads)

    async def execute(self, result: BodyResult, call: CallState) -> ToolOutput:
        """Carry out what the body of a call planned. Raises: MaridError, Refused if it was not approved."""
        if isinstance(result, ToolOutput):
            return result
        import anyio

        return anyio.run(self.make_handler().execute, result, call)

    async def require_approval(self, preview: Preview, call: CallState) -> None:
        """Return when a person approves, or has approved for good before. Raises: Refused."""
        import anyio

        anyio.run(self.make_handler().require_approval, preview, call)
