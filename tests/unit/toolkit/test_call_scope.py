from dataclasses import replace
from pathlib import Path

import anyio

from marid.core.caller import Caller
from marid.core.events import Notice
from marid.core.policy.policy import Policy
from marid.toolkit.call_scope import CallScope
from marid.workspace.guard.api import PathScope


def test_what_is_allowed_always_holds_in_the_conversation_or_else_in_the_run(tmp_path: Path) -> None:
    def scope(conversation: str) -> CallScope:
        caller = Caller(face="cli", conversation=conversation)
        return CallScope(caller=caller, policy=Policy(), path_scope=PathScope([str(tmp_path)]), run_id="r1")

    assert scope("c1").grant_scope == "conversation:c1"
    assert scope("").grant_scope == "run:r1"


def test_nobody_has_to_listen(tmp_path: Path) -> None:
    scope = CallScope(caller=Caller(face="cli"), policy=Policy(), path_scope=PathScope([str(tmp_path)]))
    anyio.run(scope.emit, Notice("x"))


def test_whoever_wants_to_know_is_told_that_a_call_begins_to_act(tmp_path: Path) -> None:
    told: list[str] = []

    async def started(call: str) -> None:
        told.append(call)

    scope = CallScope(caller=Caller(face="cli"), policy=Policy(), path_scope=PathScope([str(tmp_path)]))
    anyio.run(scope.notify_effect, "c1")
    anyio.run(replace(scope, on_effect=started).notify_effect, "c2")
    assert told == ["c2"]
