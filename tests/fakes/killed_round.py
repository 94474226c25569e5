"""A program that is killed in the middle of a round, at a moment of its own choosing.

Run by its path: MODE HOME PROJECT. Modes: `calls` kills it once the calls are stored, `started` once it is stored
that one begins, `deed` directly after the effect of an edit, `body` in the body of a tool of its own, `asked` while a
person is asked.
"""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fakes.model import FakeModel, answer
from fakes.real_app import RoundRecorder, run_prompt
from fakes.rounds import tool_call
from marid.app.app import RequestScope, Toolbox
from marid.app.tool_session import ToolAccess
from marid.bootstrap.wiring import open_request
from marid.core.events import Event
from marid.core.policy.approval import ApprovalAnswer, Question
from marid.core.policy.policy import Effect
from marid.core.round_events import EntryStored, RoundEvent
from marid.core.settings.values import Settings
from marid.ports.model import Model
from marid.toolkit.dispatch import CallHandler, CallState, Dispatcher
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import Outcome, ToolOutput
from marid.toolkit.spec import tool

MARKS = {"calls": "tool_call", "started": "tool_started"}


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def app_at(home: str, project: str, mode: str = "") -> RequestScope:
    """The program, with a tool `strike` that leaves a line in the project each time it is called."""
    scope = open_request(cwd=project, home=home, environ={})

    @tool(family="runtime", effect=Effect.META)
    def strike() -> ToolOutput:
        """Leave a line."""
        with (Path(project) / "struck").open("a") as file:
            file.write("once\n")
        if mode == "body":
            die()
        return ToolOutput(text="struck")

    async def die_after_effect(call: CallState, proceed: CallHandler) -> Outcome:
        outcome = await proceed(call)
        if mode == "deed" and call.has_acted:
            die()
        return outcome

    def toolbox() -> Toolbox:
        made = scope.app.toolbox()

        def dispatcher(settings: Settings, inventory: Inventory) -> Dispatcher:
            usual = made.make_dispatcher(settings, inventory)
            *before, carry_out = usual.steps
            return replace(usual, steps=(*before, die_after_effect, carry_out))

        return made._replace(inventory=Inventory([*made.inventory, strike]), make_dispatcher=dispatcher)

    return scope._replace(app=scope.app._replace(toolbox=toolbox))


class Deadly(RoundRecorder):
    """Dies when an entry of that type is stored."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self._mark = mark

    async def __call__(self, event: Event[RoundEvent]) -> None:
        await super().__call__(event)
        if isinstance(event.what, EntryStored) and event.what.entry.entry_type == self._mark:
            die()


class DyingAsker:
    """Dies when it is asked."""

    async def ask(self, question: Question) -> ApprovalAnswer | None:
        die()
        return None


if __name__ == "__main__":
    mode, home, project = sys.argv[1:]
    made = tool_call("strike") if mode == "body" else tool_call("write_file", '{"path": "new", "content": "one"}')

    def chosen(settings: Settings, files: Mapping[str, str]) -> Model:
        return FakeModel(answer("I do.", made))

    scope = app_at(home, project, mode)
    scope = scope._replace(app=scope.app._replace(model=chosen))
    heard = Deadly(MARKS.get(mode, "never"))
    run_prompt(
        scope, "go", heard, DyingAsker(), flags={"model": "fake-model"}, access=ToolAccess(trust=mode != "asked")
    )
