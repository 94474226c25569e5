"""`python -m bench.start`: measure, judge, tell; exit 1 when a bar does not hold."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.bars import Bar, told
from bench.start.installed import install
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import MESSAGE, Entry

_CONVERSATIONS = 10


def plant(home: Path) -> None:
    """A home as one is after some days."""
    store = FileConversations(str(home))
    for number in range(_CONVERSATIONS):
        with store.open(f"talk-{number}", create=True) as held:
            said = [Entry(entry_type=MESSAGE, content=f"message {one}", sender="user", to="bot") for one in range(20)]
            held.append(said)


def timed(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from the start to the end of a process."""
    begin = time.perf_counter()
    subprocess.run(command, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def measure(commands: Mapping[str, Sequence[str]], env: Mapping[str, str], rounds: int) -> dict[str, list[float]]:
    """All of them in turns, since a machine's mood changes by the second; the first round only warms up."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            seconds = timed(command, env)
            if number:
                taken[name].append(seconds)
    return taken


def judged(taken: Mapping[str, Sequence[float]], floor: str, most: Mapping[str, float]) -> list[Bar]:
    """The median of the bare interpreter in ms, and of each the median of its ratios to that of the same round."""
    bars = [Bar(f"{floor}, ms", statistics.median(taken[floor]) * 1e3)]
    for name, seconds in taken.items():
        if name != floor:
            ratio = statistics.median(one / bare for one, bare in zip(seconds, taken[floor], strict=True))
            limit = most.get(name)
            holds = None if limit is None else ratio <= limit
            bars.append(Bar(f"{name} / {floor}", ratio, "" if limit is None else f"<= {limit:g}", holds))
    return bars


def main() -> int:
    """Do all; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how often each is started (30)")
    asked = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="marid-bench-"))
    try:
        python, marid = map(str, install(scratch))
        plant(scratch / "home")
        env = {"MARID_HOME": str(scratch / "home"), "HOME": str(scratch), "PATH": os.defpath}
        commands = {
            "python -c pass": [python, "-c", "pass"],
            "marid --version": [marid, "--version"],
            "marid conversations": [marid, "conversations"],
            "marid -L": [marid, "-L"],
            "marid log talk-0": [marid, "log", "talk-0"],
        }
        taken = measure(commands, env, asked.rounds)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return told("start", judged(taken, "python -c pass", {"marid --version": 1.5, "marid conversations": 8.0}))


if __name__ == "__main__":
    sys.exit(main())
