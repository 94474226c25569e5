"""The cost of `--watch` after one changed file, in CPU time of the watching process."""

import mmap
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from bench.context.measure import last_lines, spawn

_EDITS = 4
_START_S = 60.0
_CHANGE_S = 20.0
_QUIET_S = 0.4


@dataclass(frozen=True, kw_only=True)
class WatchCost:
    """CPU seconds of the first run and, on average, after one change; seconds until the change was in the output."""

    first_cpu: float = 0.0
    change_cpu: float = 0.0
    change_wall: float = 0.0
    failure: str = ""
    impossible: bool = False  # the failure is this machine's


class _Failed(Exception):
    pass


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A copy of a tree by hard links, so that the tree itself never changes, and the output of the watcher."""

    tree: str
    copy: str
    output: str
    errors: str


def measure(marid: str, watched: Watched, environment: Mapping[str, str]) -> WatchCost:
    """Start watching, change a file a few times, measure. Every wait has a limit."""
    if not os.path.exists("/proc/self/stat"):
        return WatchCost(failure="there is no /proc to read CPU times from", impossible=True)
    shutil.rmtree(watched.copy, ignore_errors=True)
    shutil.copytree(watched.tree, watched.copy, copy_function=os.link)
    argv = (marid, "context", watched.copy, "--output", watched.output, "--watch")
    pid = spawn(argv, environment, watched.errors)
    try:
        return _count(pid, watched)
    except _Failed as failure:
        return WatchCost(failure=f"{failure}: {last_lines(watched.errors)}")
    finally:
        _stop(pid)
        shutil.rmtree(watched.copy, ignore_errors=True)


def _count(pid: int, watched: Watched) -> WatchCost:
    start = time.monotonic()
    _until(pid, lambda: os.path.exists(watched.output), start + _START_S, "no output")
    first = _cpu(pid)
    changed = _some_file(watched.copy)
    costs: list[float] = []
    waits: list[float] = []
    for edit in range(_EDITS):
        before, old = _settled_cpu(pid), os.stat(watched.output)
        text = b"change number %d\n" % edit
        moment = time.monotonic()
        _change(watched, changed, text)
        arrived = partial(_arrived, watched.output, old, text)
        _until(pid, arrived, moment + _CHANGE_S, "the change did not reach the output")
        waits.append(time.monotonic() - moment)
        costs.append(_settled_cpu(pid) - before)
    return WatchCost(first_cpu=first, change_cpu=sum(costs) / len(costs), change_wall=min(waits))


def _some_file(root: str) -> str:
    """A source file some folders down."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".git", "out", "node_modules")))
        sources = sorted(name for name in files if name.endswith(".py"))
        if folder.count("/") - root.count("/") >= 2 and sources:
            return os.path.join(folder, sources[0])
    raise _Failed("no file to change")


def _change(watched: Watched, path: str, text: bytes) -> None:
    """Replace the file: writing to it would change the tree, since it is a hard link."""
    with open(path, "rb") as file:
        old = file.read()
    draft = f"{watched.copy}.draft"
    with open(draft, "wb") as file:
        file.write(old + text)
    os.replace(draft, path)


def _arrived(output: str, old: os.stat_result, text: bytes) -> bool:
    """Whether the output is a new file that holds the text."""
    new = os.stat(output)
    if (new.st_ino, new.st_mtime_ns) == (old.st_ino, old.st_mtime_ns):
        return False
    with open(output, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        return data.find(text) >= 0


def _until(pid: int, happened: Callable[[], bool], deadline: float, otherwise: str) -> None:
    while not happened():
        if os.waitpid(pid, os.WNOHANG)[0]:
            raise _Failed("it ended")
        if time.monotonic() > deadline:
            raise _Failed(otherwise)
        time.sleep(0.01)


def _settled_cpu(pid: int) -> float:
    """The CPU time of the process, once it stays the same for a moment."""
    deadline = time.monotonic() + _CHANGE_S
    last, since = _cpu(pid), time.monotonic()
    while time.monotonic() - since < _QUIET_S and time.monotonic() < deadline:
        time.sleep(0.02)
        now = _cpu(pid)
        if now > last:
            last, since = now, time.monotonic()
    return last


def _cpu(pid: int) -> float:
    """User and system time of the process and of its reaped children."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except FileNotFoundError:
        raise _Failed("it ended") from None
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _stop(pid: int) -> None:
    """Interrupt it as a user would, then kill it."""
    for kind in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(pid, kind)
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.02)
        except (ProcessLookupError, ChildProcessError):
            return
