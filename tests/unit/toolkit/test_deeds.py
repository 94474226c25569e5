import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.road import Road, ScriptedAsker, within
from marid.core.approval import Answer, Kind
from marid.core.errors import Exhausted, Refused, Unavailable
from marid.core.policy import Effect, Policy, Verdict
from marid.toolkit.deeds import COMMIT_SECONDS
from marid.toolkit.outcome import Change, Done, Edit, Run
from marid.toolkit.preview import Preview
from marid.toolkit.recording import Trip
from marid.toolkit.spec import ToolSpec

SPEC = ToolSpec(name="write", family="files", effect=Effect.WRITE, body=lambda: Done(text=""))


def _trip(verdict: Verdict | None = Verdict.ALLOW) -> Trip:
    return Trip(call="", name="write", args={}, started=0.0, since=0.0, spec=SPEC, verdict=verdict)


def _edit(road: Road, name: str = "a") -> Edit:
    return Edit(changes=(Change(place=road.territory.place(name), before=None, after=b"x"),), text="done")


def test_a_result_is_handed_on(tmp_path: Path) -> None:
    road = Road(tmp_path)
    done = Done(text="x")
    assert within(9, lambda: road.deeds.done(SPEC, done, road.scope(), _trip())) is done


def test_a_plan_that_nobody_has_judged_is_refused(tmp_path: Path) -> None:
    road = Road(tmp_path)
    with pytest.raises(Refused, match="denies what it plans"):
        within(9, lambda: road.deeds.done(SPEC, _edit(road), road.scope(Policy(trusted=True)), _trip(None)))


@pytest.mark.parametrize(("kind", "kept"), [(Kind.FETCH, True), (Kind.OUTSIDE, True), (Kind.EDIT, False)])
def test_a_yes_to_a_host_or_a_path_holds_on(tmp_path: Path, kind: Kind, kept: bool) -> None:
    road = Road(tmp_path)
    preview = Preview(kind=kind, text="", plan="", grant="g", always=True)
    scope = road.scope(asker=ScriptedAsker(Answer.YES))
    within(9, lambda: road.deeds.approved(SPEC, preview, scope, _trip()))
    assert road.approvals.kept("conversation:talk", "g") is kept


def test_a_standing_grant_is_not_looked_for_where_always_is_not_offered(tmp_path: Path) -> None:
    road = Road(tmp_path)
    road.approvals.keep("conversation:talk", "g")
    preview = Preview(kind=Kind.COMMAND, text="", plan="", grant="g", always=False)
    with pytest.raises(Refused, match="--allow exec"):
        within(9, lambda: road.deeds.approved(SPEC, preview, road.scope(), _trip()))


def test_writing_has_a_time_of_its_own(tmp_path: Path) -> None:
    road = Road(tmp_path)
    free = threading.Event()
    assert COMMIT_SECONDS >= 10

    def wait(changes: Sequence[Change]) -> None:
        del changes
        free.wait(20)

    slow = replace(road.deeds, commit=wait, commit_seconds=0.02)
    with pytest.raises(Exhausted, match="look whether it has happened"):
        within(9, lambda: slow.done(SPEC, _edit(road), road.scope(Policy(trusted=True)), _trip()))
    free.set()


def test_a_deed_begins_after_the_yes_and_after_that_is_told(tmp_path: Path) -> None:
    road = Road(tmp_path)
    order: list[str] = []

    async def started(call: str) -> None:
        order.append(f"{call} {(tmp_path / 'a').exists()} {len(asker.asked)}")

    asker = ScriptedAsker(Answer.YES)
    scope = road.scope(asker=asker, started=started)
    within(9, lambda: road.deeds.done(SPEC, _edit(road), scope, replace(_trip(Verdict.ASK), call="c1")))
    assert order == ["c1 False 1"]
    assert (tmp_path / "a").read_bytes() == b"x"


def test_what_cannot_be_told_is_not_done(tmp_path: Path) -> None:
    road = Road(tmp_path)

    async def started(call: str) -> None:
        raise Unavailable(f"no room to note {call}")

    trip = _trip()
    scope = road.scope(Policy(trusted=True), started=started)
    plan = Run(argv=("true",), shown="true", cwd=road.territory.place("."))
    for result in (_edit(road), plan):
        with pytest.raises(Unavailable, match="no room"):
            within(9, lambda result=result: road.deeds.done(SPEC, result, scope, trip))
    assert (list(tmp_path.iterdir()), road.runner.plans, trip.acted) == ([], [], False)


def test_nothing_is_told_of_an_edit_that_changes_nothing(tmp_path: Path) -> None:
    road = Road(tmp_path)
    (tmp_path / "a").write_bytes(b"x")
    told: list[str] = []

    async def started(call: str) -> None:
        told.append(call)

    same = Edit(changes=(Change(place=road.territory.place("a"), before=b"x", after=b"x"),), text="done")
    within(9, lambda: road.deeds.done(SPEC, same, road.scope(started=started), _trip()))
    assert told == []
