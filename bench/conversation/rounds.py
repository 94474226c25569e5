"""`python -m bench.conversation.rounds HOME URL ROUNDS`: run many rounds, clear now and then, print how memory grows.

Every round is complete: settings, the store, the loop and a model over HTTP. Few tools are offered, since the gateway
library takes longer to serialize all of them than the rest of a round lasts. The rounds run in a separate process, so
that its memory is the conversation's; the model server runs in another.
"""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import anyio

from bench.bars import Bar
from bench.conversation.serving import serving
from marid.app.app import RequestScope
from marid.app.conversations import clear
from marid.app.rounds import RoundRequest, run_round
from marid.bootstrap.wiring import open_request
from marid.toolkit.call_scope import ignore_event

CLEARED_EVERY = 50
# Until then a process still loads what it needs once: code, caches, its first partitions.
WARM = 2000
NAME = "long"


def resident_bytes() -> int:
    """The memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def talk(scope: RequestScope, url: str, rounds: int, warm: int) -> tuple[int, int]:
    """Run the rounds in one conversation; returns the memory after `warm` rounds and at the end."""
    early = 0
    flags = {"base_url": url, "model": "scripted-model", "tools.include": ["read_file", "run_shell"]}
    for number in range(1, rounds + 1):
        request = RoundRequest(prompt=f"question {number}", conversation=NAME)
        await run_round(scope.within(NAME, flags), request, ignore_event)
        if number % CLEARED_EVERY == 0:
            clear(scope, NAME)
        if number == warm:
            early = resident_bytes()
    return early, resident_bytes()


def measure_growth(home: str, rounds: int) -> float:
    """By how many megabytes a process grows in these rounds."""
    with serving(5) as (url, _, _):
        command = [sys.executable, "-m", "bench.conversation.rounds", home, url, str(rounds)]
        done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    early, late = json.loads(done.stdout)
    return (late - early) / 1e6


def memory(home: Path, rounds: int) -> list[Bar]:
    """A long conversation that is cleared now and then."""
    size = measure_growth(str(home), rounds)
    return [Bar(f"memory growth over {rounds:,} rounds, MB", size, "<= 2", size <= 2)]


def main(home: str, url: str, rounds: int) -> None:
    """Run the rounds and print both figures."""
    scope = open_request(cwd=home, home=os.path.join(home, "home"), environ={})
    print(json.dumps(anyio.run(talk, scope, url, rounds, min(WARM, rounds // 2))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
