"""The whole road, from a name and arguments to an outcome: every effect, every verdict, every way to fail."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Protocol

import anyio
import pytest

from fakes.approvals import FakeApprovals
from fakes.dispatcher import CALLER, CallHarness, ScriptedAsker, SilentAsker, async_test, emit_sets, run_within
from fakes.ports import FakeAudit
from marid.adapters.sqlite_approvals import SqliteApprovals
from marid.bootstrap.call_pipeline import make_dispatcher
from marid.core.caller import Caller
from marid.core.errors import Exhausted, NotFound, Refused, Unavailable
from marid.core.events import Notice, ToolCalled
from marid.core.policy.approval import ApprovalAnswer, QuestionKind, person_caller
from marid.core.policy.policy import DEFAULT_RULES, Effect, Policy, PolicyRules, Verdict
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dispatch import CallHandler, CallState, Dispatcher
from marid.toolkit.handles import FileRef, TargetRef
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import CommandPlan, EditPlan, Outcome, ProcessResult, ToolFailure, ToolOutput
from marid.toolkit.plan_executor import PlanExecutor
from marid.toolkit.spec import Alias, tool
from marid.workspace.guard.api import GuardedPath, PathScope


class Bell(Protocol):
    """A port."""

    def ring(self) -> str:
        """The sound."""
        ...


class Brass:
    """A bell."""

    def ring(self) -> str:
        return "dong"


class Field(Protocol):
    """Where places come from."""

    def resolve(self, raw: str) -> GuardedPath:
        """Where it leads."""
        ...


@tool(family="files", effect=Effect.READ, aliases=(Alias(name="peek", renames=(("file", "path"),)),))
def look(path: FileRef, times: Annotated[int, "how often"] = 1) -> ToolOutput:
    """Look at a file."""
    return ToolOutput(text=path.read().decode() * times, values={"times": times})


@tool(family="files", effect=Effect.WRITE, aliases=(Alias(name="put"),))
def write(path: TargetRef, text: str) -> EditPlan:
    """Write a file."""
    try:
        before = path.read()
    except NotFound:
        before = None
    return EditPlan(
        changes=(path.change(before, text.encode()),), text=f"wrote {path.raw}", values={"bytes": len(text)}
    )


@tool(family="files", effect=Effect.WRITE)
def write_two(path: TargetRef, other: TargetRef) -> EditPlan:
    """Write two files that must both be new."""
    return EditPlan(changes=(path.change(None, b"1"), other.change(None, b"2")), text="wrote two")


@tool(family="shell", effect=Effect.EXEC)
def run(command: str, network: bool = False, *, field: Field) -> CommandPlan:
    """Run a command."""
    return CommandPlan(argv=("sh", "-c", command), display=command, cwd=field.resolve("."), network=network)


@tool(family="shell", effect=Effect.EXEC)
def run_other(command: str, *, field: Field) -> CommandPlan:
    """Run a command of another shell, and report in other words."""

    def finish(ran: ProcessResult) -> ToolOutput:
        if ran.status:
            raise Unavailable("it failed")
        return ToolOutput(text=ran.out.upper())

    return CommandPlan(argv=("/usr/bin/pwsh", command), display=command, cwd=field.resolve("."), finish=finish)


@tool(family="files", effect=Effect.WRITE)
def sneaky(*, field: Field) -> CommandPlan:
    """A tool that says it writes, and runs."""
    return CommandPlan(argv=("rm",), display="rm", cwd=field.resolve("."))


@tool(family="files", effect=Effect.READ)
def sly(path: TargetRef) -> EditPlan:
    """A tool that says it reads, and writes."""
    return EditPlan(changes=(path.change(None, b"x"),), text="wrote")


def _host(given: Mapping[str, Any]) -> str:
    if given["url"] == "http://127.0.0.1/":
        raise Refused("that host is never reached")
    return given["url"].split("/")[2]


@tool(family="network", effect=Effect.NET, subject=_host)
async def fetch(url: str) -> ToolOutput:
    """Fetch."""
    return ToolOutput(text=f"page of {url}")


@tool(family="agents", effect=Effect.SPAWN)
async def spawn(task: str) -> ToolOutput:
    """Spawn."""
    return ToolOutput(text=f"did {task}")


@tool(family="runtime", effect=Effect.META)
def ring(*, bell: Bell) -> ToolOutput:
    """Ring."""
    return ToolOutput(text=bell.ring())


@tool(family="runtime", effect=Effect.META)
def maybe_ring(*, bell: Bell | None = None) -> ToolOutput:
    """Ring if there is something to ring."""
    return ToolOutput(text=bell.ring() if bell is not None else "silence")


@tool(family="runtime", effect=Effect.META, timeout=0.05)
async def hang_softly() -> ToolOutput:
    """Hang on the loop."""
    await anyio.sleep_forever()
    return ToolOutput(text="never")


@tool(family="runtime", effect=Effect.META)
def broken(secret: str = "") -> ToolOutput:
    """A bug."""
    raise ZeroDivisionError(secret)


@tool(family="runtime", effect=Effect.META)
def exhausted() -> ToolOutput:
    """Give up."""
    raise Exhausted("all gone")


ALL = (look, write, write_two, run, run_other, sneaky, sly, fetch, spawn, ring, maybe_ring, hang_softly, broken)
TRUST = Policy(trusted=True)


@pytest.fixture
def road(tmp_path: Path) -> CallHarness:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("hello\n")
    return CallHarness(tmp_path / "project", *ALL, exhausted)


def _field(road: CallHarness) -> dict[type, object]:
    return {Field: road.path_scope}


def _failed(outcome: Outcome, code: str, words: str) -> None:
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == code
    assert words in outcome.message


def _granting(*effects: Effect) -> Policy:
    return Policy(granted=frozenset(effects))


# ---- look up, parse ------------------------------------------------------------------------------------------------


def test_a_reading_tool_gives_its_result_and_leaves_a_record(road: CallHarness) -> None:
    outcome = road.call("look", {"path": "a.txt", "times": "2"}, call_id="c7")
    assert outcome == ToolOutput(text="hello\nhello\n", values={"times": 2})
    (record,) = road.audit.records
    assert record.caller == CALLER
    assert (record.call, record.tool, record.effect, record.verdict) == ("c7", "look", "read", "allow")
    assert (record.code, record.size, record.approval, record.durable) == ("ok", 12, "", False)
    assert record.args == {"path": "a.txt", "times": "2"}
    assert [type(heard) for heard in road.heard] == [ToolCalled]


def test_an_alias_calls_the_tool_with_either_set_of_parameters(road: CallHarness) -> None:
    assert road.call("peek", {"file": "a.txt"}).ok
    assert road.call("peek", {"path": "a.txt"}).ok
    assert road.audit.records[0].tool == "look"


def test_an_unknown_name_is_met_with_the_nearest(road: CallHarness) -> None:
    _failed(road.call("loook", {}), "not_found", "did you mean 'look'?")
    assert road.audit.records[0].tool == "loook"


def test_the_errors_of_a_body_come_back_as_values(road: CallHarness) -> None:
    _failed(road.call("look", {"path": "gone"}), "not_found", "gone")
    _failed(road.call("exhausted", {}), "exhausted", "all gone")


def test_a_tool_without_its_port_is_neither_offered_nor_called(road: CallHarness) -> None:
    assert ring not in road.offered(road.scope())
    assert maybe_ring in road.offered(road.scope())
    _failed(road.call("ring", {}), "unavailable", "nothing provides Bell")
    assert road.call("maybe_ring", {}) == ToolOutput(text="silence")
    with_bell = road.scope(services={Bell: Brass()})
    assert ring in road.offered(with_bell)
    assert road.call("ring", {}, with_bell) == ToolOutput(text="dong")
    assert road.call("maybe_ring", {}, with_bell) == ToolOutput(text="dong")


# ---- policy --------------------------------------------------------------------------------------------------------


def test_read_only_offers_and_calls_nothing_that_has_an_effect(road: CallHarness) -> None:
    scope = road.scope(Policy(read_only=True, trusted=True), services={Bell: Brass(), **_field(road)})
    offered = road.offered(scope)
    assert {spec.effect for spec in offered} == {Effect.READ, Effect.META}
    _failed(road.call("write", {"path": "b", "text": "x"}, scope), "refused", "read-only")
    _failed(road.call("sly", {"path": "b"}, scope), "refused", "denies what it plans")
    assert not (road.root / "b").exists()


def test_what_policy_denies_is_refused_whoever_is_there(road: CallHarness) -> None:
    denied = Policy(layers=(replace(DEFAULT_RULES, tools={"put": Verdict.DENY}),), trusted=True)
    asker = ScriptedAsker(ApprovalAnswer.YES)
    _failed(road.call("write", {"path": "b", "text": "x"}, road.scope(denied, asker=asker)), "refused", "policy denies")
    assert asker.asked == []
    assert write not in road.offered(road.scope(denied))


def test_a_tool_that_does_more_than_it_owns_up_to_needs_all_of_it_allowed(road: CallHarness) -> None:
    scope = road.scope(_granting(Effect.WRITE), services=_field(road))
    _failed(road.call("sneaky", {}, scope), "refused", "--allow exec")
    _failed(road.call("sly", {"path": "b"}), "refused", "--allow write")
    assert road.runner.plans == []
    assert not (road.root / "b").exists()


def test_a_reading_tool_may_be_made_to_ask(road: CallHarness) -> None:
    policy = Policy(layers=(replace(DEFAULT_RULES, tools={"look": Verdict.ASK}),))
    asker = ScriptedAsker(ApprovalAnswer.YES)
    assert road.call("look", {"path": "a.txt"}, road.scope(policy, asker=asker)).ok
    assert asker.asked[0].kind is QuestionKind.CALL


# ---- edits ---------------------------------------------------------------------------------------------------------


def test_an_edit_is_shown_asked_for_and_then_written(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.YES)
    outcome = road.call("write", {"path": "a.txt", "text": "bye\n"}, road.scope(asker=asker))
    assert outcome == ToolOutput(text="wrote a.txt", values={"bytes": 4})
    assert (road.root / "a.txt").read_text() == "bye\n"
    (question,) = asker.asked
    assert (question.kind, question.tool, question.caller, question.always) == (
        QuestionKind.EDIT,
        "write",
        CALLER,
        True,
    )
    assert "-hello\n+bye" in question.text
    (record,) = road.audit.records
    assert (record.verdict, record.approval, record.durable) == ("ask", question.id, True)


def test_an_edit_that_is_not_approved_leaves_everything_as_it_was(road: CallHarness) -> None:
    scope = road.scope(asker=ScriptedAsker(ApprovalAnswer.NO))
    _failed(road.call("write", {"path": "a.txt", "text": "x"}, scope), "refused", "was declined")
    _failed(road.call("write", {"path": "a.txt", "text": "x"}), "refused", "--allow write")
    assert (road.root / "a.txt").read_text() == "hello\n"
    assert [record.durable for record in road.audit.records] == [False, False]


def test_a_grant_needs_no_question(road: CallHarness) -> None:
    scope = road.scope(_granting(Effect.WRITE))
    assert road.call("write", {"path": "new/b.txt", "text": "x"}, scope).ok
    assert (road.root / "new" / "b.txt").read_text() == "x"
    assert road.approvals.rows == {}


@pytest.mark.parametrize("name", ["conftest.py", ".envrc", ".github/workflows/ci.yml"])
def test_what_runs_later_asks_even_under_a_grant(road: CallHarness, name: str) -> None:
    args = {"path": name, "text": "x"}
    _failed(road.call("write", args, road.scope(_granting(Effect.WRITE))), "refused", "--trust")
    asker = ScriptedAsker(ApprovalAnswer.YES)
    assert road.call("write", args, road.scope(_granting(Effect.WRITE), asker=asker)).ok
    assert "CAREFUL" in asker.asked[0].text
    assert not asker.asked[0].always
    assert road.call("write", {**args, "text": "y"}, road.scope(TRUST)).ok


def test_an_edit_that_changes_nothing_asks_nobody(road: CallHarness) -> None:
    assert road.call("write", {"path": "a.txt", "text": "hello\n"}).ok
    assert not road.audit.records[0].durable


@pytest.mark.parametrize("path", [".vscode/tasks.json", ".github/workflows/ci.yml"])
def test_what_runs_later_asks_also_where_its_folder_is_the_root_or_it_is_allowed_alone(
    road: CallHarness, path: str
) -> None:
    file = road.root / path
    file.parent.mkdir(parents=True)
    for territory in (PathScope([str(file.parent)]), PathScope([], [str(file)])):
        scope = road.scope(_granting(Effect.WRITE), path_scope=territory)
        _failed(road.call("write", {"path": str(file), "text": "x"}, scope), "refused", "no person can be asked")
    assert not file.exists()


def test_always_holds_for_this_tool_in_this_conversation_and_for_nothing_that_runs_later(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.ALWAYS)
    assert road.call("write", {"path": "b", "text": "1"}, road.scope(asker=asker)).ok
    assert road.call("write", {"path": "c", "text": "2"}).ok
    assert road.audit.records[-1].approval == "standing"
    other = CALLER._replace(conversation="another")
    _failed(road.call("write", {"path": "d", "text": "3"}, road.scope(caller=other)), "refused", "--allow write")
    _failed(road.call("write_two", {"path": "e", "other": "f"}), "refused", "--allow write")
    _failed(road.call("write", {"path": "conftest.py", "text": "4"}), "refused", "--trust")


def test_without_a_conversation_always_holds_for_this_run(road: CallHarness) -> None:
    alone = Caller(face="cli")
    scope = road.scope(caller=alone, asker=ScriptedAsker(ApprovalAnswer.ALWAYS))
    assert road.call("write", {"path": "b", "text": "1"}, scope).ok
    assert road.call("write", {"path": "b", "text": "2"}, road.scope(caller=alone)).ok
    assert not road.call("write", {"path": "b", "text": "3"}, road.scope(caller=alone, run_id="r2")).ok


def test_a_standing_yes_does_not_outlive_a_denial(road: CallHarness) -> None:
    road.approvals.add_grant("conversation:talk", "tool:write")
    denied = Policy().restrict(PolicyRules(effects={Effect.WRITE: Verdict.DENY}))
    _failed(road.call("write", {"path": "b", "text": "1"}, road.scope(denied)), "refused", "policy denies")


def test_an_edit_planned_from_what_is_no_longer_there_is_refused(road: CallHarness) -> None:
    class Meddler:
        """Changes the file while the person reads."""

        async def ask(self, question: object) -> ApprovalAnswer:
            del question
            (road.root / "a.txt").write_text("changed meanwhile\n")
            return ApprovalAnswer.YES

    outcome = road.call("write", {"path": "a.txt", "text": "x"}, road.scope(asker=Meddler()))
    assert isinstance(outcome, ToolFailure)
    assert (road.root / "a.txt").read_text() == "changed meanwhile\n"


def test_of_several_files_all_are_written_or_none(road: CallHarness) -> None:
    scope = road.scope(_granting(Effect.WRITE))
    assert not road.call("write_two", {"path": "b", "other": "a.txt"}, scope).ok
    assert not (road.root / "b").exists()
    assert road.call("write_two", {"path": "b", "other": "c"}, scope).ok


def test_an_approval_covers_one_call_only(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.YES)
    args = {"path": "b", "text": "1"}
    assert road.call("write", args, road.scope(asker=asker)).ok
    (road.root / "b").unlink()
    _failed(road.call("write", args, road.scope(asker=asker)), "refused", "no answer in time")


@async_test
async def test_cancelling_while_an_edit_is_written_lets_it_be_written(road: CallHarness) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(changes: Any) -> None:
        begun.set()
        go_on.wait(20)
        road.executor.commit(changes)

    dispatcher = make_dispatcher(road.dispatcher.inventory, replace(road.executor, commit=slowly))
    scope = road.scope(_granting(Effect.WRITE))

    async with anyio.create_task_group() as group:
        group.start_soon(dispatcher.call, "write", {"path": "b", "text": "whole"}, scope)
        await road.threads.run(lambda: begun.wait(20))
        group.cancel_scope.cancel()
        go_on.set()
    assert (road.root / "b").read_text() == "whole"
    assert [(record.code, record.durable) for record in road.audit.records] == [("ok", True)]


# ---- commands ------------------------------------------------------------------------------------------------------


def test_a_command_is_shown_asked_for_and_then_run(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.YES)
    outcome = road.call("run", {"command": "ls -la"}, road.scope(asker=asker, services=_field(road)))
    assert outcome == ToolOutput(
        text="STDOUT:\nout\n\nSTDERR:\n\nEXIT CODE: 0", values={"exit_code": 0, "seconds": 0.5, "timed_out": False}
    )
    assert f"in {road.root}\n$ ls -la\n" in asker.asked[0].text
    ((plan, unconfined),) = road.runner.plans
    assert (plan.argv, unconfined) == (("sh", "-c", "ls -la"), False)
    assert road.audit.scripts == [("ls -la", ".sh")]


def test_a_tool_may_make_its_own_words_of_what_a_command_left(road: CallHarness) -> None:
    scope = road.scope(TRUST, services=_field(road))
    assert road.call("run_other", {"command": "dir"}, scope) == ToolOutput(text="OUT\n")
    assert road.audit.scripts == [("dir", ".ps1")]
    road.runner.ran = ProcessResult(status=1, out="", err="", seconds=1.0)
    _failed(road.call("run_other", {"command": "dir"}, scope), "unavailable", "it failed")


def test_a_command_that_timed_out_says_so(road: CallHarness) -> None:
    road.runner.ran = ProcessResult(status=-9, out="", err="", seconds=60.0, timed_out=True)
    assert "timed out after 60s" in str(road.call("run", {"command": "x"}, road.scope(TRUST, services=_field(road))))


def test_yes_to_a_command_is_no_yes_to_another_nor_to_another_folder(road: CallHarness) -> None:
    scope = road.scope(asker=ScriptedAsker(ApprovalAnswer.ALWAYS), services=_field(road))
    assert road.call("run", {"command": "ls"}, scope).ok
    assert road.call("run", {"command": "ls"}, scope).ok
    _failed(road.call("run", {"command": "ls; rm -rf x"}, scope), "refused", "not approved")
    (road.root / "sub").mkdir()
    elsewhere = {Field: PathScope([str(road.root / "sub")])}
    _failed(road.call("run", {"command": "ls"}, replace(scope, services=elsewhere)), "refused", "not approved")


def test_a_command_with_network_needs_both(road: CallHarness) -> None:
    scope = road.scope(_granting(Effect.EXEC), services=_field(road))
    assert road.call("run", {"command": "ls"}, scope).ok
    _failed(road.call("run", {"command": "ls", "network": True}, scope), "refused", "no person can be asked")
    both = road.scope(_granting(Effect.EXEC, Effect.NET), services=_field(road))
    assert road.call("run", {"command": "ls", "network": True}, both).ok


def test_commands_have_the_network_where_policy_allows_it_without_a_question(road: CallHarness) -> None:
    assert road.call("run", {"command": "ls"}, road.scope(_granting(Effect.EXEC), services=_field(road))).ok
    both = road.scope(_granting(Effect.EXEC, Effect.NET), services=_field(road))
    assert road.call("run", {"command": "ls"}, both).ok
    assert [plan.network for plan, _ in road.runner.plans] == [False, True]


@pytest.mark.parametrize("net", [Verdict.ASK, Verdict.DENY])
def test_a_rule_that_lets_a_tool_run_does_not_give_it_the_network(road: CallHarness, net: Verdict) -> None:
    rules = PolicyRules(effects={Effect.NET: net}, tools={"run": Verdict.ALLOW}).with_fallback(DEFAULT_RULES)
    assert road.call("run", {"command": "ls"}, road.scope(Policy(layers=(rules,)), services=_field(road))).ok
    assert [plan.network for plan, _ in road.runner.plans] == [False]


def test_without_a_sandbox_it_is_asked_every_time_and_a_grant_warns(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, *ALL, confined=False)
    asker = ScriptedAsker(ApprovalAnswer.ALWAYS, ApprovalAnswer.NO)
    scope = road.scope(asker=asker, services=_field(road))
    assert road.call("run", {"command": "ls"}, scope).ok
    assert "nothing confines this command" in asker.asked[0].text
    assert not asker.asked[0].always
    assert not road.call("run", {"command": "ls"}, scope).ok
    assert road.runner.plans[0][1]
    assert road.call("run", {"command": "ls"}, road.scope(TRUST, services=_field(road))).ok
    assert Notice("the command runs without a sandbox: none is available") in road.heard


def test_a_runner_that_hangs_is_given_up(tmp_path: Path) -> None:
    class Hanging:
        """Never comes back."""

        async def __call__(self, plan: CommandPlan, scope: CallScope, *, unconfined: bool) -> ProcessResult:
            await anyio.sleep_forever()
            raise AssertionError

    @tool(family="shell", effect=Effect.EXEC)
    def run_at_once(*, field: Field) -> CommandPlan:
        """No time at all, and less."""
        return CommandPlan(argv=("x",), display="x", cwd=field.resolve("."), timeout=-29.95)

    road = CallHarness(tmp_path, run_at_once, run=Hanging())
    _failed(road.call("run_at_once", {}, road.scope(TRUST, services=_field(road))), "exhausted", "did not end")


# ---- net and spawn -------------------------------------------------------------------------------------------------


def test_a_host_is_asked_for_once(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.YES, ApprovalAnswer.NO)
    scope = road.scope(asker=asker)
    assert road.call("fetch", {"url": "https://a.org/1"}, scope) == ToolOutput(text="page of https://a.org/1")
    assert road.call("fetch", {"url": "https://a.org/2"}, scope).ok
    _failed(road.call("fetch", {"url": "https://b.org/"}, scope), "refused", "was declined")
    assert [question.text.split("\n")[0] for question in asker.asked] == ["a.org", "b.org"]
    assert asker.asked[0].kind is QuestionKind.FETCH
    assert not road.call("fetch", {"url": "https://a.org/1"}, road.scope(caller=Caller(face="mcp"))).ok


def test_a_host_that_the_user_has_named_needs_no_question(road: CallHarness) -> None:
    policy = Policy(layers=(replace(DEFAULT_RULES, hosts=frozenset({"a.org"})),))
    assert road.call("fetch", {"url": "https://a.org/1"}, road.scope(policy)).ok
    _failed(road.call("fetch", {"url": "https://b.org/1"}, road.scope(policy)), "refused", "--allow net")


def test_what_is_refused_in_any_case_is_asked_of_nobody(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.YES)
    _failed(road.call("fetch", {"url": "http://127.0.0.1/"}, road.scope(asker=asker)), "refused", "never reached")
    assert asker.asked == []
    _failed(road.call("fetch", {"url": "http://127.0.0.1/"}, road.scope(TRUST)), "refused", "never reached")


def test_spawning_asks_before_anything_happens(road: CallHarness) -> None:
    asker = ScriptedAsker(ApprovalAnswer.NO, ApprovalAnswer.YES)
    assert not road.call("spawn", {"task": "x"}, road.scope(asker=asker)).ok
    assert road.call("spawn", {"task": "x"}, road.scope(asker=asker)) == ToolOutput(text="did x")
    assert asker.asked[0].kind is QuestionKind.SPAWN


# ---- paths outside -------------------------------------------------------------------------------------------------


def test_a_person_may_open_one_path_to_one_conversation(road: CallHarness, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("found")
    (tmp_path / "other.txt").write_text("found")
    args = {"path": str(tmp_path / "secret.txt")}
    asking = Policy(layers=(replace(DEFAULT_RULES, outside=Verdict.ASK),))
    walled = PathScope([str(road.root)])
    asker = ScriptedAsker(ApprovalAnswer.YES)
    scope = road.scope(asking, path_scope=walled, asker=asker)
    assert road.call("look", args, scope) == ToolOutput(text="found", values={"times": 1})
    assert str(tmp_path / "secret.txt") in asker.asked[0].text
    assert asker.asked[0].kind is QuestionKind.OUTSIDE
    assert road.call("look", args, road.scope(asking, path_scope=walled)).ok
    _failed(road.call("look", {"path": str(tmp_path / "other.txt")}, scope), "refused", "not approved")
    other = road.scope(asking, path_scope=walled, caller=CALLER._replace(conversation="another"))
    _failed(road.call("look", args, other), "refused", "marid allow")
    _failed(road.call("look", args, road.scope(path_scope=walled, asker=asker)), "refused", "outside")


def test_a_yes_to_reading_a_path_outside_is_none_to_writing_it(road: CallHarness, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("found")
    rules = replace(DEFAULT_RULES, outside=Verdict.ASK, effects={**DEFAULT_RULES.effects, Effect.WRITE: Verdict.ALLOW})
    asker = ScriptedAsker(ApprovalAnswer.YES, ApprovalAnswer.NO)
    scope = road.scope(Policy(layers=(rules,)), path_scope=PathScope([str(road.root)]), asker=asker)
    assert road.call("look", {"path": str(tmp_path / "notes.txt")}, scope).ok
    _failed(road.call("write", {"path": str(tmp_path / "notes.txt"), "text": "x"}, scope), "refused", "was declined")
    assert "to be read and written" in asker.asked[1].text


def test_a_link_outside_is_asked_for_by_where_it_leads(road: CallHarness, tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "harmless").symlink_to(tmp_path / "keys")
    asker = ScriptedAsker(ApprovalAnswer.YES)
    asking = Policy(layers=(replace(DEFAULT_RULES, outside=Verdict.ASK),))
    scope = road.scope(asking, path_scope=PathScope([str(road.root)]), asker=asker)
    _failed(road.call("look", {"path": str(tmp_path / "harmless")}, scope), "bad_input", "is a folder")
    assert f"it leads to {tmp_path}/keys)" in asker.asked[0].text


def test_a_path_that_stays_outside_ends_the_asking(road: CallHarness) -> None:
    class Unmoved(PathScope):
        """No path more."""

        def widen(self, path: str, real: str) -> "Unmoved":
            return Unmoved([tree.path for tree in self.guarded_roots])

    asking = Policy(layers=(replace(DEFAULT_RULES, outside=Verdict.ASK),))
    asker = ScriptedAsker(*[ApprovalAnswer.YES] * 20)
    scope = road.scope(asking, path_scope=Unmoved([str(road.root)]), asker=asker)
    _failed(road.call("look", {"path": "/etc/hosts"}, scope), "refused", "outside")
    assert len(asker.asked) == 1


def test_nobody_is_asked_for_a_path_of_a_tool_that_is_denied(road: CallHarness) -> None:
    asking = Policy(layers=(replace(DEFAULT_RULES, outside=Verdict.ASK),), read_only=True)
    asker = ScriptedAsker(ApprovalAnswer.YES)
    scope = road.scope(asking, path_scope=PathScope([str(road.root)]), asker=asker)
    _failed(road.call("write", {"path": "/etc/hosts", "text": "x"}, scope), "refused", "outside")
    assert asker.asked == []


# ---- steps ---------------------------------------------------------------------------------------------------------


def _through(dispatcher: Dispatcher, name: str, args: Mapping[str, object], scope: CallScope) -> Outcome:
    return run_within(20, lambda: dispatcher.call(name, args, scope))


def test_one_more_step_sees_every_call_and_the_others_stay_as_they_are(road: CallHarness) -> None:
    kept: dict[str, Outcome] = {}

    async def cache(call: CallState, proceed: CallHandler) -> Outcome:
        key = f"{call.tool_name} {sorted(call.args.items())}"
        if key not in kept:
            kept[key] = await proceed(call)
        return kept[key]

    *before, carry_out = road.dispatcher.steps
    caching = replace(road.dispatcher, steps=(*before, cache, carry_out))
    first = _through(caching, "look", {"path": "a.txt"}, road.scope())
    (road.root / "a.txt").write_text("changed")
    assert _through(caching, "peek", {"path": "a.txt"}, road.scope()) == first
    assert [(record.tool, record.code) for record in road.audit.records] == [("look", "ok")] * 2
    _failed(_through(caching, "look", {"path": "../x"}, road.scope()), "refused", "outside")
    assert str(_through(road.dispatcher, "look", {"path": "a.txt"}, road.scope())) == "changed"


# ---- time, size, bugs, cancelling ----------------------------------------------------------------------------------


def test_a_body_that_takes_too_long_is_given_up(road: CallHarness) -> None:
    class Gate:
        """Opens late."""

        def __init__(self) -> None:
            self.free = threading.Event()

        def ring(self) -> str:
            self.free.wait(20)
            return ""

    gate = Gate()

    @tool(family="runtime", effect=Effect.META, timeout=0.05)
    def wait_long(*, gate: Bell) -> ToolOutput:
        """Wait."""
        return ToolOutput(text=gate.ring())

    other = CallHarness(road.root, wait_long)
    outcome = other.call("wait_long", {}, other.scope(services={Bell: gate}))
    gate.free.set()
    _failed(outcome, "exhausted", "'wait_long' timed out after 0.05 s")
    _failed(road.call("hang_softly", {}), "exhausted", "'hang_softly' timed out after 0.05 s")


def test_a_result_that_is_too_large_is_cut(road: CallHarness) -> None:
    (road.root / "big").write_text("x" * 100_000)
    cut = road.call("look", {"path": "big"}, max_bytes=20_000)
    assert isinstance(cut, ToolOutput)
    assert len(cut.text) < 20_000
    assert cut.values["truncated"] is True
    assert len(str(road.call("look", {"path": "big"}))) == 100_000


def test_a_bug_is_a_failure_with_words_and_its_trace_goes_to_the_log_only(road: CallHarness) -> None:
    lenient = make_dispatcher(road.dispatcher.inventory, road.executor)
    outcome = _through(lenient, "broken", {"secret": "sesame"}, road.scope())
    _failed(outcome, "internal", "'broken' failed: this is a bug; the session log has the details")
    assert "sesame" not in str(outcome)
    assert "ZeroDivisionError: sesame" in road.audit.records[0].trace
    with pytest.raises(ZeroDivisionError):
        road.call("broken", {})


def test_a_log_that_cannot_be_kept_is_a_note_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    road = CallHarness(tmp_path, *ALL, audit=FakeAudit("the disk is full"))
    assert road.call("look", {"path": "a.txt"}).ok
    assert Notice("the disk is full") in road.heard


@async_test
async def test_cancelling_is_never_swallowed(road: CallHarness) -> None:
    asker = SilentAsker()
    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as group:

        async def call() -> None:
            args = {"path": "b", "text": "x"}
            outcomes.append(await road.dispatcher.call("write", args, road.scope(asker=asker)))

        group.start_soon(call)
        await asker.shown.wait()
        group.cancel_scope.cancel()
    assert outcomes == []
    assert [record.code for record in road.audit.records] == ["cancelled"]
    assert road.approvals.pending() == []


def test_approvals_that_cannot_be_kept_allow_nothing(tmp_path: Path) -> None:
    class Gone(FakeApprovals):
        """No disk."""

        def open(self, question: object) -> Any:
            raise Unavailable("the approvals cannot be used")

        def has_grant(self, scope: str, grant: str) -> bool:
            raise Unavailable("the approvals cannot be used")

    road = CallHarness(tmp_path, *ALL, approvals=Gone())
    scope = road.scope(asker=ScriptedAsker(ApprovalAnswer.YES))
    _failed(road.call("write", {"path": "b", "text": "x"}, scope), "unavailable", "approvals")
    _failed(road.call("write", {"path": "b", "text": "x"}), "refused", "--allow write")
    assert not (tmp_path / "b").exists()


# ---- batches -------------------------------------------------------------------------------------------------------


def test_a_batch_keeps_its_order_and_no_failure_loses_another(road: CallHarness) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("look", {"path": "a.txt"}),
        ("nothing", {}),
        ("look", {"path": "gone"}),
        ("write", {"path": "b", "text": "x"}),
        ("broken", {}),
    ]
    lenient = make_dispatcher(road.dispatcher.inventory, road.executor)
    outcomes = run_within(20, lambda: lenient.call_all(calls, road.scope()))
    codes = [outcome.code if isinstance(outcome, ToolFailure) else "ok" for outcome in outcomes]
    assert codes == ["ok", "not_found", "not_found", "refused", "internal"]
    limited = road.call("look", {"path": "a.txt", "times": 2}, max_bytes=10)
    assert limited == ToolOutput(text=limited.text, values={"truncated": True, "values_left_out": True})
    assert run_within(20, lambda: road.dispatcher.call_all([], road.scope())) == []


def test_a_batch_runs_at_once(road: CallHarness) -> None:
    together = threading.Barrier(4)

    class Meeting:
        """Passed only by four at once."""

        def ring(self) -> str:
            together.wait(10)
            return "met"

    calls: list[tuple[str, dict[str, object]]] = [("ring", {})] * 4
    outcomes = run_within(20, lambda: road.dispatcher.call_all(calls, road.scope(services={Bell: Meeting()})))
    assert [str(outcome) for outcome in outcomes] == ["met"] * 4


def test_a_hundred_edits_of_one_file_lose_nothing_silently(road: CallHarness) -> None:
    calls = [("write", {"path": "a.txt", "text": f"{number}"}) for number in range(100)]
    outcomes: list[Outcome] = run_within(
        60, lambda: road.dispatcher.call_all(calls, road.scope(_granting(Effect.WRITE)))
    )
    written = [number for number, outcome in enumerate(outcomes) if outcome.ok]
    assert written
    assert (road.root / "a.txt").read_text() in {f"{number}" for number in written}
    assert {type(outcome) for outcome in outcomes} <= {ToolOutput, ToolFailure}
    assert list(road.root.iterdir()) == [road.root / "a.txt"]


def test_several_callers_with_rights_of_their_own_are_served_at_once(road: CallHarness) -> None:
    async def main() -> list[bool]:
        scopes = [road.scope(TRUST), road.scope(Policy(read_only=True)), road.scope()]
        allowed: list[bool] = []

        async def call(place: int) -> None:
            args = {"path": f"file{place}", "text": "x"}
            allowed.append((await road.dispatcher.call("write", args, scopes[place % 3])).ok == (place % 3 == 0))

        async with anyio.create_task_group() as group:
            for place in range(30):
                group.start_soon(call, place)
        return allowed

    assert run_within(20, main) == [True] * 30


# ---- several processes ---------------------------------------------------------------------------------------------


def test_a_call_that_waits_hears_the_answer_of_another_process_and_runs_once(tmp_path: Path) -> None:
    """Both have the same file open, as two processes have."""
    (tmp_path / "project").mkdir()
    path = str(tmp_path / "home" / "approvals.db")
    ours, theirs = SqliteApprovals(path), SqliteApprovals(path)
    road = CallHarness(tmp_path / "project", *ALL)
    deeds: PlanExecutor = replace(
        road.executor, grants=ours, broker=type(road.executor.broker)(ours, road.threads, poll=0.01)
    )
    dispatcher = make_dispatcher(Inventory(ALL), deeds)

    async def main() -> Outcome:
        outcomes: list[Outcome] = []
        asked = anyio.Event()
        scope = road.scope(Policy(wait=True), emit=emit_sets(asked))

        async def call() -> None:
            outcomes.append(await dispatcher.call("write", {"path": "b", "text": "x"}, scope))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await asked.wait()
            waiting = theirs.pending()
            assert "+x" in waiting[0].question.text
            with pytest.raises(Refused):
                theirs.answer(waiting[0].question.id, ApprovalAnswer.YES, CALLER)
            theirs.answer(waiting[0].question.id, ApprovalAnswer.YES, person_caller("web"))
            with pytest.raises(Refused, match="already answered"):
                theirs.answer(waiting[0].question.id, ApprovalAnswer.NO, person_caller("cli"))
        return outcomes[0]

    assert run_within(30, main) == ToolOutput(text="wrote b", values={"bytes": 1})
    ours.close_file()
    theirs.close_file()
