"""`marid mcp` as its clients meet it: three real ones, over pipes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

import anyio
import pytest
from mcp import Client, StdioServerParameters, types

from marid import __version__
from marid.app.tool_session import ToolAccess, open_tools
from marid.bootstrap.wiring import open_request
from marid.faces.mcp.mcp_command import command
from marid.faces.mcp.server import make_server

TOP = Path(__file__).parents[2]
GOLDEN = TOP / "tests" / "golden" / "mcp_tools.json"
INSPECTOR = TOP / "node_modules" / "@modelcontextprotocol" / "inspector"
SERVE = ("-m", "marid", "mcp")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / ".gitignore").write_text("/private.txt\n")
    (project / "private.txt").write_text("not for others\n")
    (project / "README.md").write_text("# Readme\n")
    (project / "src" / "app.py").write_text("def main():\n    return 1\n")
    return project


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = {"HOME": str(tmp_path / "home"), "MARID_HOME": str(tmp_path / "marid")}
    return {name: value for name, value in os.environ.items() if not name.startswith(("MARID_", "JINNI_"))} | home


def serve(project: Path, environ: dict[str, str], *flags: str) -> StdioServerParameters:
    args = [*SERVE, "--root", str(project), *flags]
    return StdioServerParameters(command=sys.executable, args=args, env=environ, cwd="/")


def the_result(text: str) -> bool:
    """Whether it is the project above, whole."""
    return text.startswith("File: .gitignore\n") and text.endswith("return 1\n") and "not for others" not in text


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_official_client_lists_and_calls(project: Path, environ: dict[str, str], mode: str, version: str) -> None:
    parameters = serve(project, environ)

    async def main() -> None:
        results: dict[str, types.CallToolResult] = {}

        async def call(name: str, **arguments: Any) -> None:
            results[name] = await client.call_tool("read_context", {"path": str(project), **arguments})

        with anyio.fail_after(60):
            async with Client(parameters, mode=mode) as client:
                assert client.protocol_version == version
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert {"read_context", "read_file", "edit_file", "run_shell", "shell_exec"} <= tools.keys()
                read = await client.call_tool("read_file", {"path": "src/app.py"})
                assert (text_of(read), read.is_error) == ("def main():\n    return 1\n", False)
                outside = await client.call_tool("read_file", {"path": "/etc/passwd"})
                assert outside.is_error is True
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(lambda: call("whole"))
                    tasks.start_soon(lambda: call("list", list_only=True, rules=["!*.md"]))
                    tasks.start_soon(lambda: call("small", budget=200, targets=["src"]))
                    tasks.start_soon(lambda: call("wrong", path="project"))
        assert the_result(text_of(results["whole"]))
        assert text_of(results["list"]) == ".gitignore\nsrc/app.py\n"
        assert text_of(results["small"]).endswith("return 1\n")
        assert [name for name, result in results.items() if result.is_error] == ["wrong"]
        assert "not an absolute path" in text_of(results["wrong"])

    anyio.run(main)


class OldClient:
    """Speaks revision 2024-11-05 by hand, a line of JSON at a time."""

    def __init__(self, project: Path, environ: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *SERVE],
            cwd=project,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._into = cast("IO[bytes]", self.process.stdin)
        self._out_of = cast("IO[bytes]", self.process.stdout)

    def say(self, method: str, number: int | None = None, **params: Any) -> None:
        self._into.write(line(method, number, **params))
        self._into.flush()

    def hear(self) -> dict[str, Any]:
        answer = json.loads(self._out_of.readline())
        assert answer["jsonrpc"] == "2.0"
        return answer

    def open(self) -> dict[str, Any]:
        self.say("initialize", 1, **HELLO)
        answer = self.hear()
        self.say("notifications/initialized")
        return answer["result"]

    def close(self) -> tuple[bytes, bytes, int]:
        out, err = self.process.communicate(timeout=30)
        return out, err, self.process.returncode


HELLO = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}


def line(method: str, number: int | None = None, **params: Any) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n"


def call_line(number: int, **arguments: Any) -> bytes:
    return line("tools/call", number, name="read_context", arguments=arguments)


def test_a_client_of_the_first_protocol_lists_and_calls(project: Path, environ: dict[str, str]) -> None:
    client = OldClient(project, environ)
    opened = client.open()
    assert opened["protocolVersion"] == "2024-11-05"
    assert opened["serverInfo"] == {"name": "marid", "version": __version__}
    assert list(opened["capabilities"]) == ["tools"]
    assert str(project) in opened["instructions"]
    client.say("tools/list", 2)
    tool, *others = client.hear()["result"]["tools"]
    assert (tool["name"], tool["inputSchema"]["required"]) == ("read_context", ["path"])
    assert len(others) > 50
    client.say("tools/call", 3, name="read_context", arguments={"path": str(project)})
    answer = client.hear()
    assert (answer["id"], answer["result"]["isError"]) == (3, False)
    (content,) = answer["result"]["content"]
    assert content["type"] == "text"
    assert the_result(content["text"])
    client.say("tools/call", 4, name="read_context", arguments={"path": "/"})
    assert client.hear()["result"]["isError"] is True
    assert client.close() == (b"", b"", 0)
    (log,) = Path(environ["MARID_HOME"], "logs", "sessions").rglob("toolcalls.log")
    assert [(record["tool"], record["code"]) for record in map(json.loads, log.read_text().splitlines())] == [
        ("read_context", "ok"),
        ("read_context", "refused"),
    ]


def test_requests_are_answered_though_the_client_writes_no_more(project: Path, environ: dict[str, str]) -> None:
    lines = line("initialize", 1, **HELLO) + line("notifications/initialized") + b"no json\n"
    lines += b"".join(call_line(number, path=str(project)) for number in (2, 3))
    lines += call_line(4, path=str(project), budget=100) + line("tools/list", 5)
    done = subprocess.run(
        [sys.executable, *SERVE], input=lines, cwd=project, env=environ, capture_output=True, check=True, timeout=60
    )
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert sorted(answers) == [1, 2, 3, 4, 5]
    assert not any(answers[number]["isError"] for number in (2, 3, 4))
    assert done.stderr == b""


def test_a_client_that_is_gone_ends_the_server(project: Path, environ: dict[str, str]) -> None:
    client = OldClient(project, environ)
    client.open()
    cast("IO[bytes]", client.process.stdout).close()
    client.say("tools/list", 2)
    cast("IO[bytes]", client.process.stdin).close()
    assert client.process.wait(30) == 0
    with cast("IO[bytes]", client.process.stderr) as stderr:
        assert stderr.read() == b"marid: the client has gone\n"


def test_ctrl_c_ends_the_server_quietly(project: Path, environ: dict[str, str]) -> None:
    client = OldClient(project, environ)
    client.open()
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(30) == 130
    assert client.close() == (b"", b"", 130)


@pytest.fixture
def inspector(project: Path) -> list[str]:
    if os.environ.get("MARID_WITHOUT_NODE") == "1":
        pytest.skip("MARID_WITHOUT_NODE=1: the npm inspector is not tried")
    manifest = INSPECTOR / "package.json"
    assert manifest.exists(), "node_modules is missing: run `make test` once, or set MARID_WITHOUT_NODE=1"
    program = INSPECTOR / json.loads(manifest.read_text())["bin"]["mcp-inspector"]
    beside = Path(sys.executable).parent / "node"
    node = str(beside) if beside.exists() else shutil.which("node")
    assert node, "node is missing: run `make test` once, or set MARID_WITHOUT_NODE=1"
    return [node, str(program), "--cli", sys.executable, *SERVE, "--root", str(project)]


def inspect(inspector: list[str], environ: Mapping[str, str], *args: str) -> tuple[dict[str, Any], int]:
    done = subprocess.run([*inspector, *args], env=environ, capture_output=True, timeout=60, check=False)
    assert done.stdout, done.stderr.decode()
    return json.loads(done.stdout), done.returncode


def test_the_npm_inspector_lists(inspector: list[str], environ: dict[str, str]) -> None:
    found, status = inspect(inspector, environ, "--method", "tools/list", "--strict")
    names = [tool["name"] for tool in found["tools"]]
    assert (names[0], status) == ("read_context", 0)
    assert len(names) > 50


def test_the_npm_inspector_calls(inspector: list[str], environ: dict[str, str], project: Path) -> None:
    call = ("--method", "tools/call", "--tool-name", "read_context", "--tool-arg")
    found, status = inspect(inspector, environ, *call, f"path={project}", 'rules=["!*.md"]', "list_only=false")
    assert (found["isError"], status) == (False, 0)
    text = found["content"][0]["text"]
    assert the_result(text)
    assert "README.md" not in text
    found, status = inspect(inspector, environ, *call, "path=/nowhere")
    assert found["isError"] is True
    assert status != 0
    call = ("--method", "tools/call", "--tool-name", "py_get_code_outline", "--tool-arg")
    found, status = inspect(inspector, environ, *call, "path=src/app.py")
    assert (found["content"][0]["text"], status) == ("[Function] main (Lines 1-2)", 0)


def test_the_listed_tools_are_the_agreed_ones(project: Path, environ: dict[str, str]) -> None:
    (project / ".beads").mkdir()
    scope = open_request(cwd=str(project), environ=environ)
    server = make_server(open_tools(scope, ToolAccess()), "")

    async def main() -> list[dict[str, Any]]:
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]

    tools = anyio.run(main)
    if os.environ.get("MARID_GOLDEN") == "1":
        GOLDEN.write_text(json.dumps(tools, indent=2) + "\n")
    assert tools == json.loads(GOLDEN.read_text()), "run with MARID_GOLDEN=1 if the change is wanted"


def test_the_configurations_in_the_docs_start_this_command() -> None:
    blocks = re.findall(r"^```(json|toml)\n(.*?)^```", (TOP / "docs" / "mcp.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    for kind, block in blocks:
        ((_, servers),) = (json.loads if kind == "json" else tomllib.loads)(block).items()
        server = servers["marid"]
        assert (server["command"], server["args"][0]) == ("marid", "mcp")
        with command.make_context("mcp", list(server["args"][1:])) as context:
            assert context.params["roots"] == ("/path/to/project",)


def test_the_docs_describe_every_parameter() -> None:
    documented = set(re.findall(r"^\| `(\w+)` \|", (TOP / "docs" / "mcp.md").read_text(), re.MULTILINE))
    tool, *_ = json.loads(GOLDEN.read_text())
    assert documented == set(tool["inputSchema"]["properties"])


def test_families_and_effects_are_chosen_by_flags(project: Path, environ: dict[str, str]) -> None:
    async def names(*flags: str) -> dict[str, types.Tool]:
        async with Client(serve(project, environ, *flags), mode="auto") as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    (project / ".beads").mkdir()

    async def main() -> None:
        with anyio.fail_after(60):
            assert set(await names("--tools", "context")) == {"read_context"}
            beads = await names("--tools", "beads,context")
            assert set(beads) == {"read_context", "bd_list", "bd_create", "bd_update", "bd_ready"}
            hints = {name: tool.annotations for name, tool in beads.items() if tool.annotations}
            assert [hints[name].read_only_hint for name in ("bd_list", "bd_create")] == [True, False]
            assert [hints[name].destructive_hint for name in ("bd_list", "bd_create")] == [False, True]
            harmless = await names("--read-only")
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in harmless.values())
            assert "write_file" not in harmless

    anyio.run(main)


def test_a_grant_lets_a_client_write_and_without_one_the_refusal_names_the_flag(
    project: Path, environ: dict[str, str]
) -> None:
    async def write(*flags: str) -> types.CallToolResult:
        async with Client(serve(project, environ, *flags), mode="auto") as client:
            return await client.call_tool("write_file", {"path": "new.txt", "content": "x"})

    async def main() -> None:
        with anyio.fail_after(60):
            refused = await write()
            assert refused.is_error
            assert "--allow write" in text_of(refused)
            assert not (project / "new.txt").exists()
            assert not (await write("--allow", "write,exec")).is_error
            assert (project / "new.txt").read_text() == "x"

    anyio.run(main)


@pytest.mark.parametrize(("answer", "written"), [("yes", True), ("no", False), (None, False)])
def test_a_client_that_can_ask_its_person_is_asked(
    project: Path, environ: dict[str, str], answer: str | None, written: bool
) -> None:
    asked: list[str] = []

    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        if answer is None:
            return types.ElicitResult(action="cancel")
        return types.ElicitResult(action="accept", content={"answer": answer})

    async def main() -> None:
        with anyio.fail_after(60):
            async with Client(serve(project, environ), mode="legacy", elicitation_callback=elicit) as client:
                result = await client.call_tool("write_file", {"path": "new.txt", "content": "fresh\n"})
                assert result.is_error is not written

    anyio.run(main)
    assert "+fresh" in asked[0]
    assert (project / "new.txt").exists() is written
