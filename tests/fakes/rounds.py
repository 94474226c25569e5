"""A round over a conversation: a model that plays turns, tools of our own, and what its listeners got."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeAlias, TypeVar

import anyio

from fakes.dispatcher import CallHarness
from fakes.events import emit_into
from fakes.model import FakeModel
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import MESSAGE, TO_USER, Entry
from marid.core.events import AsyncEmit
from marid.core.model_io import Finished, FinishReason, GatewayEvent, Message, ModelRequest, TextDelta, ToolCall
from marid.core.policy.policy import Effect, Policy
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import Settings
from marid.engine.async_conversation import AsyncConversation
from marid.engine.loop import Round, RoundDeps
from marid.engine.round_entries import RoundPrompt, RoundStamp
from marid.engine.round_factory import last_round_id, start_round
from marid.engine.round_services import RoundHandoff
from marid.ports.handoff import Handoff
from marid.ports.model import OnModelEvent
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.questions import Asker
from marid.toolkit.spec import ToolSpec, tool
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.toolkit.tool_offers import tool_offers
from marid.tools.conversation_tools import call_agent, call_user

T = TypeVar("T")
Playable: TypeAlias = Sequence[GatewayEvent | anyio.Event] | BaseException


@tool(family="files", effect=Effect.READ)
def look(path: str = ".") -> ToolOutput:
    """Look at something."""
    return ToolOutput(text=f"saw {path}")


@tool(family="runtime", effect=Effect.META)
def poke(name: str = "it") -> ToolOutput:
    """Do something that cannot be taken back."""
    return ToolOutput(text=f"poked {name}")


TOOLS = (look, poke, call_agent, call_user)


def tool_call(name: str, arguments: str = "{}", id: str = "c1") -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(id=id, name=name, arguments=arguments)


def finish_with(reason: FinishReason, *parts: Any) -> list[GatewayEvent]:
    """An answer that ends for that reason."""
    deltas: list[GatewayEvent] = [TextDelta(part.text) for part in parts]
    return [*deltas, Finished(reason, Message(role="assistant", parts=parts))]


class EventModel(FakeModel):
    """Plays events as they are: an Event of anyio is waited for, an error raised at the end."""

    def __init__(self, *plays: Playable, error: BaseException | None = None) -> None:
        super().__init__()
        self._plays = list(plays)
        self._error = error
        self.stalled = anyio.Event()

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        self.asked.append(request)
        play = self._plays.pop(0)
        if isinstance(play, BaseException):
            raise play
        for event in play:
            if isinstance(event, anyio.Event):
                self.stalled.set()
                await event.wait()
            else:
                await on_event(event)
        if self._error is not None and not self._plays:
            raise self._error


class RoundHarness:
    """One conversation, its model and its tools."""

    def __init__(
        self,
        root: Path,
        model: FakeModel,
        *specs: ToolSpec,
        settings: Settings | None = None,
        fallback: str = TO_USER,
        policy: Policy | None = None,
    ) -> None:
        self.home = FileConversations(mkdtemp(dir=root, prefix="home"))
        self.conversation = self.home.open("talk", create=True)
        self.model = model
        self.harness = CallHarness(root, *(specs or TOOLS), strict=False)
        self.heard: list[RoundEvent] = []
        self.settings = settings or Settings()
        self._fallback = fallback
        self._policy = policy
        self.asker: Asker | None = None
        self.emit: AsyncEmit[RoundEvent] | None = None

    @property
    def entries(self) -> list[Entry]:
        """What the transcript holds after its beginning."""
        return list(self.conversation.entries())[1:]

    @property
    def types(self) -> list[str]:
        return [entry.entry_type for entry in self.entries]

    def words(self) -> list[str]:
        """What messages say, without the date."""
        return [
            entry.content.partition("] ")[2] or entry.content for entry in self.entries if entry.entry_type == MESSAGE
        ]

    def heard_of(self, kind: type[T]) -> list[T]:
        """The events of one kind."""
        return [what for what in self.heard if isinstance(what, kind)]

    def append(self, *entries: Entry) -> None:
        self.conversation.append(entries)

    async def play(self, prompt: str = "") -> RoundEnd:
        """One round; without a prompt, the last one goes on."""
        emit = self.emit or emit_into(self.heard)
        conversation = AsyncConversation(self.conversation, emit, DaemonThreadPool())
        if prompt:
            stamp = RoundStamp("talk", f"r{self.conversation.sequence()}")
            await start_round(
                conversation, self.home.inbox, stamp, RoundPrompt(prompt, self.settings.conversation.username)
            )
        else:
            stamp = RoundStamp("talk", last_round_id(await conversation.turns()) or "again")
        scope = self.harness.scope(self._policy, services={Handoff: RoundHandoff()}, emit=emit, asker=self.asker)
        deps = RoundDeps(
            conversation=conversation,
            inbox=self.home.inbox,
            model=self.model,
            model_name="fake-model",
            settings=self.settings,
            dispatcher=self.harness.dispatcher,
            scope=scope,
            tools=tool_offers(self.harness.dispatcher.inventory, scope, self._fallback),
            make_system_prompt=lambda fuel: f"fuel {fuel}",
            fallback_tool=self._fallback,
        )
        return await Round(deps, stamp).run()

    def say(self, prompt: str = "") -> RoundEnd:
        """As `play`, from outside."""

        async def main() -> RoundEnd:
            with anyio.fail_after(20):
                return await self.play(prompt)

        return anyio.run(main)


def gate(event: "anyio.Event | None" = None) -> tuple[ToolSpec, Callable[[], int]]:
    """A tool that counts how often it was called, and waits for an event if there is one."""
    counted: list[int] = []

    @tool(family="runtime", effect=Effect.META)
    async def wait(name: str = "") -> ToolOutput:
        """Wait."""
        counted.append(1)
        if event is not None:
            await event.wait()
        return ToolOutput(text=f"waited {name}")

    return wait, lambda: len(counted)
