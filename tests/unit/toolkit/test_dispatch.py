from pathlib import Path

from fakes.dispatcher import CallHarness
from marid.core.policy.policy import Effect, Policy
from marid.toolkit.inventory import available_tools
from marid.toolkit.outcome import ToolFailure, ToolOutput
from marid.toolkit.spec import tool

SOURCE = Path(__file__).parents[3] / "src" / "marid"


@tool(family="runtime", effect=Effect.META)
def hello(name: str = "you") -> ToolOutput:
    """Say hello."""
    return ToolOutput(text=f"hello {name}")


def test_an_empty_policy_allows_nothing(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, hello)
    outcome = road.call("hello", {}, road.scope(Policy(layers=())))
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "refused"
    assert available_tools([hello], road.scope(Policy(layers=()))) == []


def test_nobody_else_calls_the_body_of_a_tool() -> None:
    calling = [path.name for path in SOURCE.rglob("*.py") if "spec.body(" in path.read_text("utf-8")]
    assert calling == ["call_steps.py"]


@tool(family="files", effect=Effect.READ)
def peek() -> ToolOutput:
    """Look."""
    return ToolOutput(text="seen")


@tool(family="network", effect=Effect.NET)
def fetch() -> ToolOutput:
    """Fetch."""
    return ToolOutput(text="fetched")


def test_the_body_of_what_has_effects_is_told_of_before_it_begins_and_reading_is_not(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, hello, peek, fetch)
    told: list[str] = []

    async def started(call: str) -> None:
        told.append(call)

    scope = road.scope(Policy(trusted=True), on_effect=started)
    for name in ("hello", "peek", "fetch"):
        assert road.call(name, {}, scope, call_id=name).ok
    assert told == ["hello", "fetch"]
    assert not road.call("fetch", {}, road.scope(on_effect=started), call_id="refused").ok
    assert "refused" not in told
