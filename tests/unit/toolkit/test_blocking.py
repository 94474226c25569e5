import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from fakes.dispatcher import CallHarness, ScriptedAsker
from marid.bootstrap.call_pipeline import make_dispatcher
from marid.core.policy.approval import ApprovalAnswer
from marid.core.policy.policy import DEFAULT_RULES, Policy, Verdict
from marid.toolkit.blocking import BlockingPlanHandler, BlockingThreads, run_blocking
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput
from marid.tools.files import read_file, write_file


def test_a_coroutine_that_does_not_wait_is_run() -> None:
    assert run_blocking(BlockingThreads().run(lambda: 5)) == 5
    with pytest.raises(RuntimeError, match="waits for an event loop"):
        anyio.run(_wait)


async def _wait() -> None:
    run_blocking(checkpoint())


def test_work_gives_its_result_or_raises_its_error_or_ends_in_time() -> None:
    def broken() -> None:
        raise KeyError("x")

    threads = BlockingThreads()
    assert run_blocking(threads.run(lambda: 6, 10.0)) == 6
    assert run_blocking(threads.run_to_end(lambda: None, 10.0)) is None
    with pytest.raises(KeyError):
        run_blocking(threads.run(broken, 10.0))
    with pytest.raises(TimeoutError):
        run_blocking(threads.run(lambda: time.sleep(5), 0.01))


_POLICY = Policy(layers=(replace(DEFAULT_RULES, outside=Verdict.ASK),))


def call(road: CallHarness, name: str, asker: ScriptedAsker, **args: object) -> Outcome:
    handler = BlockingPlanHandler(threads=BlockingThreads(), audit=road.audit, make_handler=lambda: road.executor)
    dispatcher = make_dispatcher(Inventory([read_file, write_file]), handler, strict=True)
    return run_blocking(dispatcher.call(name, args, road.scope(_POLICY, asker=asker)))


def test_reading_needs_no_event_loop_and_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    road = CallHarness(tmp_path)
    assert call(road, "read_file", ScriptedAsker(), path="a").text == "one\n"
    assert [record.tool for record in road.audit.records] == ["read_file"]


@pytest.mark.parametrize(("answer", "written"), [(ApprovalAnswer.YES, True), (ApprovalAnswer.NO, False)])
def test_a_plan_is_asked_about_and_carried_out(tmp_path: Path, answer: ApprovalAnswer, *, written: bool) -> None:
    asker = ScriptedAsker(answer)
    outcome = call(CallHarness(tmp_path), "write_file", asker, path="new", content="x")
    assert (len(asker.asked), isinstance(outcome, ToolOutput)) == (1, written)
    assert (tmp_path / "new").exists() == written


def test_a_path_outside_of_the_project_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "other").write_text("two\n")
    road = CallHarness(tmp_path / "project")
    refused = call(road, "read_file", ScriptedAsker(ApprovalAnswer.NO), path=str(tmp_path / "other"))
    assert isinstance(refused, ToolFailure)
    allowed = call(road, "read_file", ScriptedAsker(ApprovalAnswer.YES), path=str(tmp_path / "other"))
    assert allowed.text == "two\n"
