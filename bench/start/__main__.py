"""`python -m bench.start`: measure, print, compare; exit 1 when a limit does not hold."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.bars import Bar, report
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import MESSAGE, Entry

_ROOT = Path(__file__).parents[2]
_CONVERSATIONS = 10


def build_wheel(folder: Path) -> Path:
    """A wheel of this tree."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, env: Path, *, dependencies: bool) -> tuple[str, str]:
    """Install the wheel into a new environment: its interpreter and its `marid`. Nothing is fetched.

    Dependencies are those of this interpreter's environment, or none: most commands import none of them.
    """
    venv.create(env, with_pip=False)
    python = str(env / "bin" / "python")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", str(wheel)]
    _run([*command, "--disable-pip-version-check"])
    if dependencies:
        (packages,) = env.glob("lib/*/site-packages")
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python, str(env / "bin" / "marid")


def _run(command: list[str]) -> None:
    # An installed program has compiled modules.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=_ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def make_home(home: Path) -> None:
    """A home after some days of use."""
    store = FileConversations(str(home))
    for number in range(_CONVERSATIONS):
        with store.open(f"talk-{number}", create=True) as conversation:
            texts = (f"message {one}" for one in range(20))
            conversation.append([Entry(entry_type=MESSAGE, content=text, sender="user", to="bot") for text in texts])


def time_command(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from the start to the end of a process in the home folder."""
    begin = time.perf_counter()
    subprocess.run(
        command, env=dict(env), cwd=env.get("HOME"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - begin


def measure(commands: Mapping[str, Sequence[str]], env: Mapping[str, str], rounds: int) -> dict[str, list[float]]:
    """Run the commands in turns, since the load of a machine changes by the second; the first round warms up."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            seconds = time_command(command, env)
            if number:
                taken[name].append(seconds)
    return taken


def compare(taken: Mapping[str, Sequence[float]], floor: str, limits: Mapping[str, float]) -> list[Bar]:
    """The median of the floor in ms, and for each command the median of its ratios to the floor in the same round."""
    bars = [Bar(f"{floor}, ms", statistics.median(taken[floor]) * 1e3)]
    for name, seconds in taken.items():
        if name != floor:
            ratio = statistics.median(one / bare for one, bare in zip(seconds, taken[floor], strict=True))
            limit = limits.get(name)
            holds = None if limit is None else ratio <= limit
            bars.append(Bar(f"{name} / {floor}", ratio, "" if limit is None else f"<= {limit:g}", holds))
    return bars


def main() -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how often each is started (30)")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="marid-bench-"))
    try:
        wheel = build_wheel(scratch / "wheels")
        python, marid = install(wheel, scratch / "bare", dependencies=False)
        _, with_tools = install(wheel, scratch / "full", dependencies=True)
        (scratch / "small.txt").write_text("small\n")
        make_home(scratch / "home")
        env = {"MARID_HOME": str(scratch / "home"), "HOME": str(scratch), "PATH": os.defpath}
        commands = {
            "python -c pass": [python, "-c", "pass"],
            "marid --version": [marid, "--version"],
            "marid conversations": [marid, "conversations"],
            "marid -L": [marid, "-L"],
            "marid log talk-0": [marid, "log", "talk-0"],
            "marid tool read_file": [with_tools, "tool", "read_file", "--path", "small.txt"],
        }
        taken = measure(commands, env, options.rounds)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    limits = {"marid --version": 1.5, "marid conversations": 8.0, "marid tool read_file": 12.0}
    return report("start", compare(taken, "python -c pass", limits))


if __name__ == "__main__":
    sys.exit(main())
