from dataclasses import replace
from pathlib import Path

import anyio

from marid.core.caller import Caller
from marid.core.events import Note
from marid.core.policy import Policy
from marid.toolkit.scope import Scope
from marid.workspace.guard import Territory


def test_what_is_allowed_always_holds_in_the_conversation_or_else_in_the_run(tmp_path: Path) -> None:
    def scope(conversation: str) -> Scope:
        caller = Caller(face="cli", conversation=conversation)
        return Scope(caller=caller, policy=Policy(), territory=Territory([str(tmp_path)]), run="r1")

    assert scope("c1").standing == "conversation:c1"
    assert scope("").standing == "run:r1"


def test_nobody_has_to_listen(tmp_path: Path) -> None:
    Scope(caller=Caller(face="cli"), policy=Policy(), territory=Territory([str(tmp_path)])).emit(Note("x"))


def test_whoever_wants_to_know_is_told_that_a_call_begins_to_act(tmp_path: Path) -> None:
    told: list[str] = []

    async def started(call: str) -> None:
        told.append(call)

    scope = Scope(caller=Caller(face="cli"), policy=Policy(), territory=Territory([str(tmp_path)]))
    anyio.run(scope.starts, "c1")
    anyio.run(replace(scope, started=started).starts, "c2")
    assert told == ["c2"]
