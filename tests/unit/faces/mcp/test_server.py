import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client, types
from mcp.shared.exceptions import MCPError

from fakes.approvals import make_question
from fakes.dispatcher import CallHarness
from marid import __version__
from marid.app.tool_session import ToolSession
from marid.core.errors import FAMILIES, MaridError
from marid.core.policy.approval import ApprovalAnswer
from marid.core.policy.policy import Effect
from marid.faces.mcp.server import Elicitation, elicitation_for, make_server
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import ToolSpec, tool

MODES = ("legacy", "auto")


@tool(family="test", effect=Effect.READ)
def echo(said: int) -> ToolOutput:
    """Say it again."""
    return ToolOutput(text=f"said {said}\n")


def session(root: Path, *specs: ToolSpec) -> ToolSession:
    road = CallHarness(root, *specs, strict=False)
    return ToolSession(road.dispatcher.inventory, road.scope(), lambda _: road.dispatcher)


def answers(tools: ToolSession, *names: str, mode: str = "auto", **args: object) -> list[types.CallToolResult]:
    """What a client gets for its calls, all at once."""

    async def main() -> list[types.CallToolResult]:
        found: dict[int, types.CallToolResult] = {}

        async def call(client: Client, number: int, name: str) -> None:
            found[number] = await client.call_tool(name, dict(args))

        with anyio.fail_after(20):
            async with Client(make_server(tools, "How to."), mode=mode) as client, anyio.create_task_group() as tasks:
                for number, name in enumerate(names):
                    tasks.start_soon(call, client, number, name)
        return [found[number] for number in range(len(names))]

    return anyio.run(main)


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_a_client_learns_who_serves_and_what(tmp_path: Path, mode: str) -> None:
    async def main() -> None:
        async with Client(make_server(session(tmp_path, echo), "How to."), mode=mode) as client:
            info = client.server_info
            assert info is not None
            assert (info.name, info.version, client.instructions) == ("marid", __version__, "How to.")
            assert list(client.server_capabilities.model_dump(exclude_none=True)) == ["tools"]
            (listed,) = (await client.list_tools()).tools
            assert (listed.name, listed.title, listed.description) == ("echo", "echo", "Say it again.")
            hints = listed.annotations
            assert hints is not None
            assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
            assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)

    anyio.run(main)


@pytest.mark.parametrize("mode", MODES)
def test_the_text_is_the_bare_result(tmp_path: Path, mode: str) -> None:
    (result,) = answers(session(tmp_path, echo), "echo", mode=mode, said=3)
    assert (text(result), result.is_error, result.structured_content) == ("said 3\n", False, None)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_errors_is_an_error_result(tmp_path: Path, family: type[MaridError]) -> None:
    @tool(family="test", effect=Effect.READ)
    def probe() -> ToolOutput:
        """Fail."""
        raise family("'x' is wrong: do y")

    (result,) = answers(session(tmp_path, probe), "probe")
    assert (text(result), result.is_error) == ("ERROR: 'x' is wrong: do y", True)


def test_an_unknown_tool_and_a_bug_do_not_end_the_server(tmp_path: Path) -> None:
    @tool(family="test", effect=Effect.READ)
    def broken() -> ToolOutput:
        """Break."""
        raise KeyError("something private")

    unknown, bug = answers(session(tmp_path, broken), "brokken", "broken")
    assert (unknown.is_error, "did you mean 'broken'?" in text(unknown)) == (True, True)
    assert (bug.is_error, "this is a bug" in text(bug), "private" in text(bug)) == (True, True, False)


@pytest.mark.parametrize("mode", MODES)
def test_calls_run_side_by_side_and_a_cancelled_one_blocks_no_other(tmp_path: Path, mode: str) -> None:
    started, release = threading.Event(), threading.Event()

    @tool(family="test", effect=Effect.READ)
    def slow() -> ToolOutput:
        """Wait."""
        started.set()
        release.wait(10)
        return ToolOutput(text="late")

    async def main() -> None:
        with anyio.fail_after(20):
            async with Client(make_server(session(tmp_path, slow, echo), ""), mode=mode) as client:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "slow")
                    await anyio.to_thread.run_sync(started.wait, 10)
                    assert text(await client.call_tool("echo", {"said": 1})) == "said 1\n"
                    tasks.cancel_scope.cancel()
                assert text(await client.call_tool("echo", {"said": 2})) == "said 2\n"

    try:
        anyio.run(main)
    finally:
        release.set()


@dataclass
class Session:
    """A client that answers as it was told to."""

    result: types.ElicitResult | MCPError
    client_capabilities: types.ClientCapabilities | None = None
    can_send_request: bool = True
    schemas: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def elicit_form(self, _message: str, schema: dict[str, Any], _request: object) -> types.ElicitResult:
        self.schemas.append(schema)
        if isinstance(self.result, MCPError):
            raise self.result
        return self.result


@dataclass
class Context:
    session: Session
    request_id: int = 7


def accepted(answer: str) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"answer": answer})


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (accepted("yes"), ApprovalAnswer.YES),
        (accepted("no"), ApprovalAnswer.NO),
        (accepted("always"), ApprovalAnswer.ALWAYS),
        (accepted("perhaps"), ApprovalAnswer.NO),
        (types.ElicitResult(action="accept"), ApprovalAnswer.NO),
        (types.ElicitResult(action="decline"), ApprovalAnswer.NO),
        (types.ElicitResult(action="cancel"), ApprovalAnswer.NO),
        (MCPError(code=-32603, message="no form here"), None),
    ],
)
def test_only_a_plain_yes_is_one(result: types.ElicitResult | MCPError, answer: ApprovalAnswer | None) -> None:
    assert anyio.run(Elicitation(cast("Any", Session(result)), 7).ask, make_question()) is answer


def test_always_is_offered_only_where_it_may_be() -> None:
    session = Session(accepted("always"))
    assert anyio.run(Elicitation(cast("Any", session), 7).ask, make_question(always=False)) is ApprovalAnswer.NO
    assert session.schemas[0]["properties"]["answer"]["enum"] == ["yes", "no"]


def test_a_client_is_asked_only_if_it_said_that_it_can() -> None:
    able = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    for capabilities, sends, there in (
        (None, True, False),
        (types.ClientCapabilities(), True, False),
        (able, False, False),
        (able, True, True),
    ):
        session = Session(accepted("yes"), client_capabilities=capabilities, can_send_request=sends)
        assert (elicitation_for(cast("Any", Context(session))) is not None) is there
