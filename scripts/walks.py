"""Trace six walks through the program and print how far each goes: `python scripts/walks.py [--json] [WALK...]`.

The terms of the table:

modules   modules of marid of which a function ran; a body that runs at import does not count
packages  their top-level packages
edges     distinct pairs (calling module, called module) whose packages differ; frames of libraries between two of ours
          do not count, and what a thread, a pool of threads or an event loop calls first has no caller
upward    edges whose called package is in a higher layer of .importlinter than the calling one
depth     the most frames of marid on a stack at once, comprehensions aside
verb      the most frames of marid from `main` to a verb, both counted; a verb is a public function of `marid.app` that
          takes the request scope first, called from outside of `marid.app`
"""

import argparse
import atexit
import configparser
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "src" / "marid") + os.sep
COLUMNS = ("modules", "packages", "edges", "upward", "depth", "verb")
VERB_PARAMETER = "scope"
POOL = "toolkit.thread_pool"
EVENT_LOOP = os.path.join("asyncio", "events.py")
INLINE = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


class Walk(NamedTuple):
    """A command line, what it reads on stdin, and what a scripted model answers."""

    args: tuple[str, ...]
    stdin: str = ""
    model: bool = False


def _json_request(command: object) -> str:
    return json.dumps({"command": command, "context": "work"})


def _mcp_lines() -> str:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "walk", "version": "1"}}
    calls = (("read_file", {"path": "a.py"}), ("read_context", {"path": "."}))
    lines: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": hello}]
    lines += [{"method": "notifications/initialized"}]
    lines += [
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)


_EDIT = json.dumps({"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"})
# The walks of the review of the code, in its order.
WALKS = {
    "context": Walk(("context", ".")),
    "tool": Walk(("tool", "edit_file", "--allow", "write", "--args", _EDIT)),
    "prompt": Walk(("what", "is", "here?"), model=True),
    "json send_prompt": Walk(("json",), _json_request({"send_prompt": {"prompt": "what is here?"}}), model=True),
    "json list_contexts": Walk(("json",), _json_request("list_contexts")),
    "mcp": Walk(("mcp",), _mcp_lines()),
    "config": Walk(("config",)),
}
# Every other command, for the frames to its verb.
COMMANDS = {
    "say": Walk(("say", "hello"), model=True),
    "resume": Walk(("resume", "work"), model=True),
    "inbox": Walk(("inbox",), model=True),
    "conversations": Walk(("conversations",)),
    "conversations show": Walk(("conversations", "show", "work")),
    "log": Walk(("log", "work", "--raw")),
    "search": Walk(("search", "--conversations", "hello")),
    "export": Walk(("export", "work")),
    "inspect": Walk(("inspect", "system_prompt")),
    "set": Walk(("set", "fuel", "5")),
    "clear": Walk(("clear", "work")),
    "overview": Walk(("overview", ".")),
    "tools": Walk(("tools",)),
    "allow": Walk(("allow", "a.py")),
    "approvals": Walk(("approvals",)),
    "models": Walk(("models", "--json")),
    "model-info": Walk(("model-info", "offline:offline")),
    "flags": Walk(("-l", "-g", "0", "-n", "goals", "-P", "get_tree", '{"path": "."}')),
}


def layers() -> dict[str, int]:
    """The height of each top-level package, from the contract of layers."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    rows = contracts["importlinter:contract:layers"]["layers"].split("\n")
    rows = [row for row in rows if row.strip()]
    return {name.strip(): len(rows) - place for place, row in enumerate(rows) for name in row.split("|")}


class Tracer:
    """A profile function for every thread of this process."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.edges: set[tuple[str, str]] = set()
        self.depth = 0
        self.verbs: dict[str, list[str]] = {}
        self.calls: dict[str, int] = {}

    def __call__(self, frame: FrameType, event: str, _arg: object) -> None:
        """Called by the interpreter on every call and return."""
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        stack = list(_own_frames(frame))
        if not stack:
            return
        module = _module(frame)
        self.modules.add(module)
        code = frame.f_code
        self.calls[f"{module}:{code.co_qualname}"] = self.calls.get(f"{module}:{code.co_qualname}", 0) + 1
        self.depth = max(self.depth, len(stack))
        caller = _caller(frame)
        if caller and _top(caller) != _top(module):
            self.edges.add((caller, module))
        if _is_verb(frame, module) and _top(caller) != "app" and _module(stack[-1]) == "__main__":
            path = [f"{_module(one)}:{one.f_code.co_qualname}" for one in reversed(stack)]
            self.verbs.setdefault(path[-1], path)

    def result(self) -> dict[str, object]:
        """What was seen, as JSON has it."""
        return {
            "modules": sorted(self.modules),
            "edges": sorted(self.edges),
            "depth": self.depth,
            "verbs": self.verbs,
            "calls": self.calls,
        }


def _own_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of marid on a stack, the innermost first; none while a module is imported."""
    found: list[FrameType] = []
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename != __file__:
            return
        if frame.f_code.co_filename.startswith(PACKAGE) and frame.f_code.co_name not in INLINE:
            found.append(frame)
        frame = frame.f_back
    yield from found


def _caller(frame: FrameType) -> str:
    above = frame.f_back
    while above is not None and not above.f_code.co_filename.endswith(EVENT_LOOP):
        if above.f_code.co_filename.startswith(PACKAGE):
            return "" if _module(above) == POOL else _module(above)
        above = above.f_back
    return ""


def _module(frame: FrameType) -> str:
    path = frame.f_code.co_filename[len(PACKAGE) :].removesuffix(".py")
    return path.replace(os.sep, ".").removesuffix(".__init__")


def _top(module: str) -> str:
    return module.partition(".")[0]


def _is_verb(frame: FrameType, module: str) -> bool:
    code = frame.f_code
    plain = code.co_qualname == code.co_name and not code.co_name.startswith("_")
    return plain and _top(module) == "app" and code.co_argcount > 0 and code.co_varnames[0] == VERB_PARAMETER


def trace(output: str, args: list[str]) -> None:
    """Run the program in this process and write what was seen to a file; does not return."""
    sys.argv = ["marid", *args]
    from marid.__main__ import main

    tracer = Tracer()

    def write_result() -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        Path(output).write_text(json.dumps(tracer.result()))

    atexit.register(write_result)
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    main()


def run_walk(walk: Walk) -> dict[str, Any]:
    """Carry out a walk in a child process, in a project and a home of its own: what was seen."""
    from marid.testing import ModelServer, call, say

    steps = [say(calls=[call("read_file", {"path": "a.py"})]), say("There is one file.")]
    with tempfile.TemporaryDirectory() as place, ModelServer(steps) as server:
        home, project = Path(place, "home"), Path(place, "project")
        _make_places(home, project)
        (home / "config.toml").write_text(f'base_url = "{server.openai}"\nmodel = "m"\napi_key = "not-a-key"\n')
        seen = Path(place, "seen.json")
        _run_program(walk, seen, project, _environment(home))
        return json.loads(seen.read_text())


def _make_places(home: Path, project: Path) -> None:
    """A project, and a home with a conversation in which something was said."""
    from marid.adapters.store.conversations import FileConversations
    from marid.core.conversation.entry import MESSAGE, Entry

    (project / ".git").mkdir(parents=True)
    (project / "a.py").write_text("x = 1\n")
    home.mkdir()
    with FileConversations(str(home)).open("work", create=True) as held:
        held.append([Entry(entry_type=MESSAGE, content="hello", sender="user", to="work", role="user")])


def _environment(home: Path) -> dict[str, str]:
    dropped = ("MARID_", "CHIBI_", "JINNI_", "COV", "OPENAI_", "ANTHROPIC_", "GEMINI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}  # noqa: TID251
    return {**kept, "MARID_HOME": str(home), "HOME": str(home.parent), "TERM": "dumb"}


def _run_program(walk: Walk, seen: Path, cwd: Path, env: dict[str, str]) -> None:
    command = [sys.executable, __file__, "--trace", str(seen), *walk.args]
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("no pipes")
        if walk.args[0] == "mcp":
            for line in walk.stdin.splitlines(keepends=True):
                child.stdin.write(line)
                child.stdin.flush()
                if '"id"' in line:
                    child.stdout.readline()
        out, err = child.communicate("" if walk.args[0] == "mcp" else walk.stdin, timeout=120)
    if child.returncode != 0:
        raise RuntimeError(f"marid {' '.join(walk.args)} failed ({child.returncode}): {out}{err}")


def measure(seen: dict[str, Any]) -> dict[str, int]:
    """The figures of a walk."""
    height = layers()
    edges = [tuple(edge) for edge in seen["edges"]]
    return {
        "modules": len(seen["modules"]),
        "packages": len({_top(module) for module in seen["modules"]}),
        "edges": len(edges),
        "upward": sum(height[_top(called)] > height[_top(calling)] for calling, called in edges),
        "depth": seen["depth"],
        "verb": max((len(path) for path in seen["verbs"].values()), default=0),
    }


def main() -> None:
    """Print the table, or one JSON object with all that was seen."""
    if sys.argv[1:2] == ["--trace"]:
        trace(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("walks", nargs="*", metavar="WALK", help=", ".join((*WALKS, *COMMANDS)))
    parser.add_argument("--json", action="store_true", help="print all that was seen")
    parser.add_argument("--all", action="store_true", help="also the commands that are not among the six walks")
    options = parser.parse_args()
    every = {**WALKS, **COMMANDS}
    names: list[str] = options.walks or [*(every if options.all else WALKS)]
    seen = {name: run_walk(every[name]) for name in names}
    if options.json:
        print(json.dumps({name: {**one, "figures": measure(one)} for name, one in seen.items()}))
        return
    print(f"{'':20}" + "".join(f"{column:>10}" for column in COLUMNS))
    for name, one in seen.items():
        figures = measure(one)
        print(f"{name:20}" + "".join(f"{figures[column]:>10}" for column in COLUMNS))


if __name__ == "__main__":
    main()
