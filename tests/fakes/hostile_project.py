"""A project with everything hostile in and around it, and the tools that take a path."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from fakes.git import FakeGit, FakeRepository
from fakes.tool_caller import ToolCaller
from fakes.trees import plant
from marid.assembly.context_ports import ContextPorts
from marid.assembly.context_reader import ContextReader
from marid.assembly.guarded_context import GuardedContextReader
from marid.core.errors import MaridError
from marid.core.policy.policy import Effect
from marid.core.settings.values import ContextSettings
from marid.ports.git import Git
from marid.ports.processes import ProcessRunner
from marid.toolkit.handles import FileRef, PathHandle, TargetRef
from marid.toolkit.inventory import dependencies_of
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput
from marid.toolkit.spec import ToolSpec
from marid.tools.builtin import TOOLS
from marid.workspace.guard.path_scope import PathScope
from marid.workspace.rules.ignore_files import UserGitFiles

CANARY = "CANARY"

PYTHON = f'''"""{CANARY}"""


class Base:
    """{CANARY}"""


def f():
    return "{CANARY} inside"


LIMIT = "{CANARY}"
'''
C = f"/* {CANARY} */\nint LIMIT = 3;\nint f(void) {{ return {CANARY}; /* inside */ }}\n"

# Values of the parameters that are no paths. A tool with a new one must be added here, or its test fails.
VALUES: dict[str, Any] = {
    "anchor_symbol": "",
    "anchor_type": "bottom",
    "class_name": "Base",
    "command": "true",
    "content": "def f():\n    return 3\n",
    "dest_name": "g",
    "end_line": 5,
    "line_start": 1,
    "name": "f",
    "new_content": "def f():\n    return 2\n",
    "new_declaration": "LIMIT = 4",
    "new_signature": "def f(a=1):",
    "new_string": "outside",
    "old_string": " inside",
    "operation": "insert_before",
    "pattern": "in*",
    "region_name": "part",
    "script": "true",
    "start_line": 5,
    "target": "f",
}
# Where that value does not suit a tool, or what is optional is needed for it to do anything.
SPECIAL: dict[str, dict[str, Any]] = {
    "derive_code_path": {"target": "ok.py::f"},
    "file_edit": {"line_start": 1, "content": "x = 1"},
    "glob_files": {"pattern": "**/*"},
    "py_add_def": {"name": "g", "new_content": "def g():\n    return 2\n"},
    "py_get_class_summary": {"name": "Base"},
    "py_get_docstring": {"name": "Base"},
    "py_get_var_declaration": {"name": "LIMIT"},
    "py_move_def": {"dest_name": "g"},
    "py_set_var_declaration": {"name": "LIMIT"},
    "search_files": {"pattern": "**/*"},
    "ts_c_update_definition": {"new_content": "int f(void) { return 2; }"},
    "ts_cpp_update_definition": {"new_content": "int f(void) { return 2; }"},
}


class PathParameter(NamedTuple):
    """A parameter of a tool that takes a path."""

    spec: ToolSpec
    parameter: str
    kind: type[PathHandle]

    @property
    def extension(self) -> str:
        """Of the files that the tool understands."""
        return {"ts_c": "c", "ts_cpp": "cpp"}.get(self.spec.name.partition("_get_")[0].partition("_update_")[0], "py")

    @property
    def takes_files(self) -> bool:
        return issubclass(self.kind, FileRef)

    @property
    def writes(self) -> bool:
        return issubclass(self.kind, TargetRef)

    def __str__(self) -> str:
        return f"{self.spec.name}.{self.parameter}"


def _handle(hint: Any) -> type[PathHandle] | None:
    """The handle in a hint, however deep."""
    if isinstance(hint, type) and issubclass(hint, PathHandle):
        return hint
    return next((found for part in get_args(hint) if (found := _handle(part)) is not None), None)


def _aims() -> Iterator[PathParameter]:
    for spec in TOOLS:
        for name, hint in dependencies_of(spec).param_hints.items():
            kind = _handle(hint)
            if kind is not None:
                yield PathParameter(spec, name, kind)


PATH_PARAMETERS = tuple(_aims())


class Finder:
    """Knows one program, and runs none."""

    def find(self, *names: str) -> str | None:
        return f"/usr/bin/{names[0]}"


def context_reader() -> GuardedContextReader:
    """Assembles contexts that need no port."""
    ports = ContextPorts(git=_absent, clones=_absent, cache=_absent, outlines=_absent, user_git_files=UserGitFiles())
    return GuardedContextReader(ports, ContextSettings(max_size_mb=1))


def _absent(*_: object) -> Any:
    raise AssertionError("a plain context needs no port")


class HostileProject:
    """Root, siblings, links, special files, a home inside; `try_path` sends a path into a tool."""

    def __init__(self, top: Path) -> None:
        self.top = Path(os.path.realpath(top))
        self.root = self.top / "root"
        self.home = self.root / f"{CANARY}-home"
        plant(
            self.top,
            {f"{folder}/secret.{end}": text for folder in ("out", "out/sub", "root_evil") for end, text in _SOURCES},
        )
        plant(self.top, {f"out/{CANARY}-name.py": PYTHON, "out/folder/": ""})
        self.restore()
        plant(self.root, {"x\x1b[2J\u202e.py": "", "\udcff.py": "", ".git/config": "[core]\n", ".git/HEAD": "x"})
        plant(self.root, dict.fromkeys(("history.toml", "a_history.toml", "sub/HISTORY.TOML"), PYTHON))
        plant(self.home, {"config.py": PYTHON, "config.c": C, "config.cpp": C, "history.toml": PYTHON})
        plant(self.root, {"bare/HEAD": "", "bare/objects/": "", "bare/refs/": "", "bare/config": "inside"})
        self._links()
        os.mkfifo(self.root / "pipe.py")
        _bind(self.root, "socket.py")
        repository = FakeRepository()
        repository.commit("first", {"ok.py": b"old", "history.toml": b"old", f"{CANARY}-home/config.py": b""})
        repository.files["ok.py"] = b"new"
        repository.files["history.toml"] = CANARY.encode()
        services = {
            Git: FakeGit(repositories={str(self.root): repository}),
            ProcessRunner: Finder(),
            ContextReader: context_reader(),
        }
        self.tools = ToolCaller(self.root, services)
        self.tools.path_scope = PathScope([str(self.root)], home=str(self.home))
        self._outside = self.outside()

    def restore(self) -> None:
        """Write the files again that a tool may change."""
        plain = [(end, text.replace(CANARY, "1")) for end, text in _SOURCES]
        plant(self.root, {f"{name}.{end}": text for name in ("ok", "other", "sub/in") for end, text in plain})

    def _links(self) -> None:
        for end, _ in _SOURCES:
            (self.root / f"link_file.{end}").symlink_to(f"../out/secret.{end}")
            (self.root / f"link_abs.{end}").symlink_to(self.top / f"out/secret.{end}")
            (self.root / f"link_in.{end}").symlink_to(f"ok.{end}")
            (self.root / f"link_home.{end}").symlink_to(f"{CANARY}-home/config.{end}")
            (self.root / f"link_old.{end}").symlink_to("history.toml")
            os.link(self.root / "a_history.toml", self.root / f"hard.{end}")
        (self.root / "link_folder").symlink_to("../out")
        (self.root / "sub/link_deep").symlink_to("../../out")
        (self.root / "link_home").symlink_to(f"{CANARY}-home")
        (self.root / "self").symlink_to(".")
        (self.root / "loop").symlink_to("loop")

    def unharmed(self) -> bool:
        """Whether all of that is as it was."""
        return self.outside() == self._outside

    def outside(self) -> dict[str, bytes]:
        """Everything that no tool may change."""
        forbidden = (f"root/{CANARY}-home", "root/.git", "root/bare", "root/history.toml", "root/a_history.toml")
        return {
            name: data
            for name, data in _regular(self.top).items()
            if not name.startswith("root/") or name.startswith(forbidden)
        }

    def arguments(self, aim: PathParameter, raw: str, **more: object) -> dict[str, object]:
        """Plausible ones, with `raw` where the tool takes its path."""
        spec = aim.spec
        given: dict[str, object] = dict(SPECIAL.get(spec.name, {}))
        for name, hint in dependencies_of(spec).param_hints.items():
            if name == aim.parameter:
                given[name] = raw
            elif name in given or _has_default(spec, name):
                continue
            elif _handle(hint) is not None:
                given[name] = f"other.{aim.extension}"
            elif name == "anchor":
                given[name] = self._anchor()
            else:
                assert name in VALUES, (
                    f"{spec.name} has a new parameter: name a value for '{name}' in fakes/hostile_project.py"
                )
                given[name] = VALUES[name]
        return given | more

    def _anchor(self) -> str:
        spec = next(spec for spec in TOOLS if spec.name == "create_anchor")
        return self.tools.text(spec, path="ok.py", start_line=5, end_line=8)

    def try_path(self, aim: PathParameter, raw: str, **more: object) -> Outcome:
        """What the call comes to, which holds no canary and has changed nothing outside."""
        raw = raw.format(root=self.root, top=self.top, ext=aim.extension)
        if aim.spec.name == "read_context" and raw.strip() and not raw.startswith("/"):
            raw = f"{self.root}/{raw}"  # it takes absolute paths only
        args = self.arguments(aim, raw, **more)
        outcome = self.planned(aim.spec, args) if aim.spec.effect is Effect.EXEC else self.tools.call(aim.spec, **args)
        said = f"{outcome.text}{outcome.values if isinstance(outcome, ToolOutput) else ''}"
        given = "\n".join(map(str, args.values()))
        assert CANARY not in said.replace(str(args[aim.parameter]), ""), (str(aim), raw, said)
        if aim.spec.effect is not Effect.READ:
            assert self.unharmed(), (str(aim), raw)
        assert str(self.top) not in said or str(self.top) in given, (str(aim), raw, said)
        return outcome

    def planned(self, spec: ToolSpec, args: dict[str, object]) -> Outcome:
        """What the body plans, as an outcome; nothing is written or run."""
        try:
            self.tools.plan(spec, **args)
        except MaridError as error:
            return ToolFailure(code=error.code, message=str(error))
        return ToolOutput(text="")


def _bind(folder: Path, name: str) -> None:
    """A socket on disk, however long the path is."""
    fd = os.open(folder, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{fd}/{name}")
    os.close(fd)


def _regular(top: Path) -> dict[str, bytes]:
    """Every regular file and every folder below."""
    found: dict[str, bytes] = {}
    for folder, folders, files in os.walk(top):
        found.update({os.path.relpath(os.path.join(folder, name), top): b"/" for name in folders})
        for name in files:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                found[os.path.relpath(path, top)] = path.read_bytes()
    return found


def _has_default(spec: ToolSpec, name: str) -> bool:
    from inspect import Parameter, signature

    return signature(spec.body).parameters[name].default is not Parameter.empty


_SOURCES = (("py", PYTHON), ("c", C), ("cpp", C))
