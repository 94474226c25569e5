"""Which processes a command has started, as far as /proc tells: also those that went their own way."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator

_MAX_ENVIRONMENT = 1 << 18


def has_environment_mark(mark: str) -> Callable[[str], bool]:
    """Tells a process that inherited the variable `mark`: it survives a new session, a new group and a new parent."""
    needle = f"{mark}=".encode()

    def is_marked(pid: str) -> bool:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(entry.startswith(needle) for entry in file.read(_MAX_ENVIRONMENT).split(b"\0"))

    return is_marked


def in_namespace(number: int) -> Callable[[str], bool]:
    """Tells a process of the process namespace that has this inode number."""

    def is_inside(pid: str) -> bool:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino == number

    return is_inside


def find_processes(belongs: Callable[[str], bool], proc: str = "/proc") -> Iterator[int]:
    """The processes that belong; those that we may not look at, or that have just gone, do not."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(proc):
            if name.isdecimal():
                with contextlib.suppress(OSError):
                    if belongs(name):
                        yield int(name)


def kill_processes(belongs: Callable[[str], bool], rounds: int = 20) -> None:
    """Kill the processes that belong until none is left: one may have started another while we looked."""
    for _ in range(rounds):
        found = [pid for pid in find_processes(belongs) if pid != os.getpid()]
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def thread_count(pid: int) -> int:
    """How many threads a process has; 0 if it has gone."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 0


def machine_thread_count(loadavg: str = "/proc/loadavg") -> int:
    """How many there are on the whole machine: cheap to ask, so a sudden crowd is noticed. 0 if nobody tells."""
    try:
        with open(loadavg, "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0
