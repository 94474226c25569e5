"""A program that commits edits below a folder and is killed in the midst of them, again and again.

Run by its path with a mode: `steps TOP` kills the n-th child at its n-th step; `moments TOP COUNT SEED` at any moment.
"""

import os
import random
import signal
import sys
import time
from itertools import count
from pathlib import Path

from fakes.files import change_to
from marid.workspace.write.commit import commit

LINES = 2000


def text(version: int) -> bytes:
    """A file that shows when it is not whole."""
    return b"%d\n" % version * LINES


def prepare(top: Path) -> None:
    """Two files, and a home."""
    (top / "r/d").mkdir(parents=True)
    (top / "r/a").write_bytes(text(0))
    (top / "r/d/b").write_bytes(text(0))


def edit(top: Path, version: int, end: int = 0) -> None:
    """Both files, and a new one in a new folder, from the version before; killed at step `end`."""
    steps = count(1)

    def on_step(_step: str) -> None:
        if next(steps) == end:
            os.kill(os.getpid(), signal.SIGKILL)

    root, before = top / "r", text(version - 1)
    changes = [
        change_to(root, "a", before, text(version)),
        change_to(root, "d/b", before, text(version)),
        change_to(root, f"new{version}/c", None, text(version)),
    ]
    commit(changes, str(top / "home"), on_step=on_step)


def at_every_step(top: Path) -> None:
    """One folder for each step, until an edit gets through."""
    for end in count(1):
        prepare(top / str(end))
        child = os.fork()
        if not child:
            edit(top / str(end), 1, end)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


def at_any_moment(top: Path, times: int, seed: int) -> None:
    """One folder for each kill, in which edits follow on each other until it comes."""
    moments = random.Random(seed)
    for number in range(times):
        prepare(top / str(number))
        child = os.fork()
        if not child:
            for version in count(1):
                edit(top / str(number), version)
        time.sleep(moments.uniform(0.0005, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        at_every_step(Path(sys.argv[2]))
    else:
        at_any_moment(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
