"""A person or a program says something in a conversation, and hears all that follows."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Thread
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from marid.app.app import App
from marid.app.hands import Hands, open_hands
from marid.app.saying import Saying
from marid.app.stage import Stage, set_stage, with_model
from marid.core.caller import Caller
from marid.core.conversation import Conflict, Held, Meta
from marid.core.errors import BadInput, MaridError, NotFound
from marid.core.events import Note
from marid.core.ids import new_id
from marid.core.rounds import End, RoundHappening
from marid.engine.beginning import begin, round_of
from marid.engine.ledger import Ledger
from marid.engine.loop import Means, Round
from marid.engine.offers import permitted, unknown
from marid.engine.opening import Prompt
from marid.engine.prompt import parts_of, system_prompt
from marid.engine.replies import Stamp
from marid.engine.services import memory_services
from marid.ports.model import Model, Warmable
from marid.ports.transcript import Conversation
from marid.toolkit.scope import Scope
from marid.workspace.instructions import home_prompt, instructions

if TYPE_CHECKING:
    from marid.toolkit.asking import Asker

# How often somebody else's conversation is looked for again, in seconds.
_POLL = 0.1
# How long a round that is over waits for what it made ready and did not need, in seconds.
_LAST_WAIT = 0.5
_TITLE_WORDS, _TITLE = 10, 60
PROMPT_SENT = "last_combined_prompt"
# How the documents name the way by which a conversation came to be; JSON mode is a program's command line.
_SOURCES: Mapping[str, str] = MappingProxyType({"cli": "CLI", "json": "CLI", "mcp": "MCP", "rest": "REST"})


async def say(app: App, saying: Saying, emit: Callable[[RoundHappening], None], asker: "Asker | None" = None) -> End:
    """One round. All that happens goes to `emit`, in its order, on the loop's own thread.

    Cancelling stores what there is as interrupted and closes the connection to the model.

    Raises:
        BadInput: a blank prompt, a name that is none, settings that make no sense.
        Refused: the conversation is archived, or the provider refuses the key.
        NotFound: the provider does not know the model, or there is nothing to resume.
        Exhausted: the window is full, or a budget is used up.
        Unavailable: somebody else holds the conversation (Held), the model or the disk fails.
    """
    if not saying.resume and not saying.prompt.strip():
        raise BadInput("there is nothing to say: the prompt is blank")
    setting = partial(set_stage, app, saying.conversation, saying.flags, saying.force, saying.debug)
    stage = await with_model(await anyio.to_thread.run_sync(setting))
    for note in stage.notes:
        emit(Note(note))
    warming = _warming(stage.model)
    try:
        return await _round(app, saying, stage, emit, asker)
    finally:
        if warming is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(warming.join, _LAST_WAIT)


async def _round(
    app: App, saying: Saying, stage: Stage, emit: Callable[[RoundHappening], None], asker: "Asker | None"
) -> End:
    held = await _held(stage, saying)
    try:
        ledger = Ledger(held, emit)
        hands = await ledger.run(partial(_hands, app, saying, stage, held.meta().id))
        try:
            return await _Play(app, saying, stage, ledger, hands).run(emit, asker)
        finally:
            hands.close()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(held.close)


def _warming(model: Model) -> Thread | None:
    """Have the gateway library read while everything else is made ready; whoever needs it waits for it there."""
    if not isinstance(model, Warmable):
        return None
    thread = Thread(target=_quietly, args=(model,), daemon=True, name="marid warm")
    thread.start()
    return thread


def _quietly(model: Warmable) -> None:
    with suppress(MaridError, ImportError):
        model.warm()


async def _held(stage: Stage, saying: Saying) -> Conversation:
    """The conversation, ours. It is tried again and again rather than waited for: cancelling ends that at once."""
    until = time.monotonic() + saying.wait
    while True:
        try:
            return await anyio.to_thread.run_sync(partial(_opened, stage, saying))
        except Held:
            if time.monotonic() >= until:
                raise
        await anyio.sleep(_POLL)


def _opened(stage: Stage, saying: Saying) -> Conversation:
    store = stage.memory.conversations
    try:
        return store.open(stage.name)
    except NotFound:
        if saying.resume:
            raise
    with suppress(Conflict):  # somebody else was faster
        store.create(stage.name, source=_SOURCES.get(saying.face, saying.face.upper()))
    return store.open(stage.name)


def _hands(app: App, saying: Saying, stage: Stage, conversation: str) -> Hands:
    """The tools, with the policy and the roots of this conversation's own settings."""
    caller = Caller(face=saying.face, conversation=conversation)
    own = app._replace(settings=stage.settings)
    return open_hands(own, replace(saying.reach, rootless=True), caller)


class _Play:
    """One round with all that belongs to it."""

    def __init__(self, app: App, saying: Saying, stage: Stage, ledger: Ledger, hands: Hands) -> None:
        self._app = app
        self._saying = saying
        self._stage = stage
        self._ledger = ledger
        self._held = ledger.conversation
        self._hands = hands

    async def run(self, emit: Callable[[RoundHappening], None], asker: "Asker | None") -> End:
        for note in (*self._held.problems(), *self._notes()):
            emit(Note(note))
        means = await self._ledger.run(partial(self._means, emit, asker))
        saying, stage = self._saying, self._stage
        if saying.resume:
            stamp = Stamp(stage.name, round_of(await self._ledger.turns()) or new_id())
        else:
            stamp = Stamp(stage.name, new_id())
            prompt = Prompt(saying.prompt, stage.settings.username, own=saying.unsaid)
            if not await begin(self._ledger, stage.memory.inbox, stamp, prompt):
                return End("nothing", stamp.round)
        playing = Round(means, stamp)
        try:
            return await playing.run()
        finally:
            with anyio.move_on_after(means.settling, shield=True), suppress(MaridError):
                await self._ledger.run(partial(self._describe, playing.system))

    def _notes(self) -> list[str]:
        notes: list[str] = []
        if not self._hands.scope.territory.trees:
            notes.append("the working directory belongs to no project: tools can touch no files; --root DIR names some")
        if names := unknown(self._hands.inventory, self._stage.settings):
            notes.append(f"the settings `tools` name what is not there: {', '.join(names)}")
        return notes

    def _means(self, emit: Callable[[RoundHappening], None], asker: "Asker | None") -> Means:
        stage = self._stage
        inventory = permitted(self._hands.inventory, stage.settings)
        return Means(
            ledger=self._ledger,
            inbox=stage.memory.inbox,
            model=stage.model,
            name=stage.model_name,
            settings=stage.settings,
            parameters=stage.parameters,
            dispatcher=self._hands.road(inventory),
            scope=self._scope(emit, asker),
            system=self._prompt(),
            emit=emit,
            fallback=stage.fallback,
        )

    def _scope(self, emit: Callable[[RoundHappening], None], asker: "Asker | None") -> Scope:
        stage = self._stage
        memory = stage.memory
        own = memory_services(self._held, memory.conversations, memory.inbox, stage.model, stage.settings)
        return replace(self._hands.scope.with_services(own), emit=emit, asker=asker)

    def _prompt(self) -> Callable[[tuple[int, int] | None], str]:
        """What people have written down is read once a round, what the model has noted whenever it is asked."""
        app, settings = self._app, self._stage.settings
        written = instructions(settings.home, app.user_home, app.project, app.cwd)
        home = home_prompt(settings.home, "chibi")
        return lambda fuel: system_prompt(parts_of(self._held, settings, written, home, fuel))

    def _describe(self, system: str) -> None:
        stage, title = self._stage, "" if self._saying.unsaid else _title(self._saying.prompt)

        def known(meta: Meta) -> Meta:
            extra = {**meta.extra, PROMPT_SENT: system} if system else meta.extra
            model, provider = stage.model_name, stage.model.provider
            return meta._replace(title=meta.title or title, provider=provider, model=model, extra=extra)

        self._held.change(known)


def _title(prompt: str) -> str:
    """The first words of a prompt, on one line."""
    line = " ".join(prompt.split()[:_TITLE_WORDS]).encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 3]}..."
