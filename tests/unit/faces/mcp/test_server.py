import threading
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from mcp import Client, types

from marid import __version__
from marid.core.errors import FAMILIES, MaridError
from marid.faces.mcp.face_tool import Arguments, CheckAlive, FaceTool
from marid.faces.mcp.server import make_server

MODES = ("legacy", "auto")


def tool(call: Any, name: str = "probe") -> FaceTool:
    return FaceTool(name, "Probe", "Tries something.", {"type": "object", "properties": {}}, call)


def answers(
    tools: Sequence[FaceTool], *names: str, mode: str = "auto", debug: bool = False
) -> list[types.CallToolResult]:
    """What a client gets for its calls, all at once."""

    async def main() -> list[types.CallToolResult]:
        found: dict[int, types.CallToolResult] = {}

        async def call(client: Client, number: int, name: str) -> None:
            found[number] = await client.call_tool(name, {"said": number})

        server = make_server(tools, "How to.", debug=debug)
        with anyio.fail_after(20):
            async with Client(server, mode=mode) as client, anyio.create_task_group() as tasks:
                for number, name in enumerate(names):
                    tasks.start_soon(call, client, number, name)
        return [found[number] for number in range(len(names))]

    return anyio.run(main)


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_a_client_learns_who_serves_and_what(mode: str) -> None:
    async def main() -> None:
        async with Client(make_server([tool(None)], "How to."), mode=mode) as client:
            info = client.server_info
            assert info is not None
            assert (info.name, info.version, client.instructions) == ("marid", __version__, "How to.")
            capabilities = client.server_capabilities.model_dump(exclude_none=True)
            assert list(capabilities) == ["tools"]
            (listed,) = (await client.list_tools()).tools
            assert (listed.name, listed.title, listed.description) == ("probe", "Probe", "Tries something.")
            hints = listed.annotations
            assert hints is not None
            assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
            assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)

    anyio.run(main)


@pytest.mark.parametrize("mode", MODES)
def test_the_text_is_the_bare_result(mode: str) -> None:
    def call(arguments: Arguments, _alive: CheckAlive) -> str:
        return f"said {arguments['said']}\n"

    (result,) = answers([tool(call)], "probe", mode=mode)
    assert (text(result), result.is_error, result.structured_content) == ("said 0\n", False, None)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mode", MODES)
def test_every_family_of_errors_is_told_in_its_own_words(family: type[MaridError], mode: str) -> None:
    def call(_arguments: Arguments, _alive: CheckAlive) -> str:
        raise family("'x' is wrong: do y")

    (result,) = answers([tool(call)], "probe", mode=mode)
    assert (text(result), result.is_error) == ("'x' is wrong: do y", True)


def test_an_unknown_tool_is_an_error_that_names_the_known_ones() -> None:
    (result,) = answers([tool(None, "one"), tool(None, "two")], "three")
    assert (text(result), result.is_error) == ("there is no tool 'three'; there are one, two", True)


def broken(_arguments: Arguments, _alive: CheckAlive) -> str:
    raise KeyError("something private")


def test_a_bug_is_told_plainly_and_does_not_end_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    results = answers([tool(broken)], "probe", "probe")
    for result in results:
        assert result.is_error
        assert text(result).startswith("probe broke: this is a bug in marid")
        assert "private" not in text(result)
    out, err = capsys.readouterr()
    assert out == ""
    assert "a bug in probe: KeyError: 'something private'" in err
    assert "Traceback" not in err


def test_debugging_shows_the_traceback_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = answers([tool(broken)], "probe", debug=True)
    assert "Traceback" not in text(result)
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("mode", MODES)
def test_calls_run_side_by_side(mode: str) -> None:
    together = threading.Barrier(2)

    def call(_arguments: Arguments, _alive: CheckAlive) -> str:
        together.wait(10)  # neither goes on alone
        return "done"

    assert [text(result) for result in answers([tool(call)], "probe", "probe", mode=mode)] == ["done", "done"]


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_ends_and_blocks_no_other(mode: str) -> None:
    started, ended, never = threading.Event(), threading.Event(), threading.Event()

    def slow(_arguments: Arguments, alive: CheckAlive) -> str:
        started.set()
        try:
            while not never.wait(0.001):
                alive()
        finally:
            ended.set()
        return "never"

    def quick(_arguments: Arguments, _alive: CheckAlive) -> str:
        return "quick"

    async def main() -> None:
        server = make_server([tool(slow, "slow"), tool(quick, "quick")], "")
        with anyio.fail_after(20):
            async with Client(server, mode=mode) as client:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "slow")
                    await anyio.to_thread.run_sync(started.wait, 10)
                    assert text(await client.call_tool("quick", {})) == "quick"
                    assert not ended.is_set()
                    tasks.cancel_scope.cancel()
                assert await anyio.to_thread.run_sync(ended.wait, 10)
                assert text(await client.call_tool("quick", {})) == "quick"

    anyio.run(main)
