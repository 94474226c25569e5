"""Limit how many processes a command may have, by the kernel: a watcher is slower than a fork bomb.

A resource limit works for every user but root, whom the kernel exempts even in a user namespace. Root gets a control
group, where one can be created.
"""

import contextlib
import os
import time
from collections.abc import Generator, Sequence
from secrets import token_hex

from marid.adapters.process.process_tree import machine_thread_count

MAX_PROCESSES = 1024
CGROUP_ROOTS = ("/sys/fs/cgroup/pids", "/sys/fs/cgroup")  # version 1 and version 2
# Since this version the kernel counts the processes of each user namespace separately.
_NAMESPACED_COUNT_SINCE = (5, 14)
# A shell sets the limits and then becomes the command: with threads, Python must not run between fork and exec.
_LIMIT_SCRIPT = 'ulimit -c 0; ulimit -p "$1" 2>/dev/null || ulimit -u "$1" 2>/dev/null; shift; exec "$@"'
_JOIN_SCRIPT = '{ echo $$ > "$1"; } 2>/dev/null; shift; exec "$@"'
_GROUP_PREFIX = "marid-"


def with_process_limit(argv: Sequence[str], max_processes: int, *, release: str, confined: bool) -> tuple[str, ...]:
    """The command limited to `max_processes` and without core dumps; `release` is the kernel's."""
    version = tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdecimal())
    counted_alone = confined and version >= _NAMESPACED_COUNT_SINCE
    limit = max_processes if counted_alone else max_processes + machine_thread_count()
    return ("/bin/sh", "-c", _LIMIT_SCRIPT, "sh", str(limit), *argv)


def in_control_group(argv: Sequence[str], group: str | None) -> tuple[str, ...]:
    """The command in a control group, if there is one."""
    return tuple(argv) if group is None else ("/bin/sh", "-c", _JOIN_SCRIPT, "sh", f"{group}/cgroup.procs", *argv)


@contextlib.contextmanager
def control_group(max_processes: int, roots: Sequence[str] = CGROUP_ROOTS) -> Generator[str | None]:
    """A temporary control group of at most `max_processes` processes and threads; None if it cannot be created."""
    name = f"{_GROUP_PREFIX}{os.getpid()}-{token_hex(4)}"
    group = next((path for root in roots if _create_group(path := os.path.join(root, name), max_processes)), None)
    try:
        yield group
    finally:
        # Retry while the kernel reaps the dead; `remove_stale_groups` removes what is left.
        for wait in (0.0, 0.01, 0.1, 0.5) if group else ():
            time.sleep(wait)
            with contextlib.suppress(OSError):
                os.rmdir(str(group))
                break


def _create_group(group: str, max_processes: int) -> bool:
    if not os.path.exists(os.path.join(os.path.dirname(group), "cgroup.procs")):
        return False
    try:
        os.mkdir(group)
    except OSError:
        return False
    try:
        with open(os.path.join(group, "pids.max"), "r+b", buffering=0) as file:
            file.write(b"%d" % max_processes)
    except OSError:  # groups do not count processes here
        os.rmdir(group)
        return False
    return True


def remove_stale_groups(roots: Sequence[str] = CGROUP_ROOTS) -> None:
    """Remove the groups that killed processes of ours have left."""
    for root in roots:
        with contextlib.suppress(OSError):
            for name in os.listdir(root):
                owner = name.removeprefix(_GROUP_PREFIX).partition("-")[0]
                if name.startswith(_GROUP_PREFIX) and not os.path.exists(f"/proc/{owner}"):
                    os.rmdir(os.path.join(root, name))
