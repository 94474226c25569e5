"""How many processes a command may have: a limit of the kernel, as no watcher is quicker than a fork bomb.

A limit of the process does it for everybody but root, whom the kernel exempts even in a user namespace. For root there
is a control group, where one can be made.
"""

import contextlib
import os
import time
from collections.abc import Generator, Sequence
from secrets import token_hex

from marid.adapters.process import descendants

MAX_PROCESSES = 1024
CGROUP_ROOTS = ("/sys/fs/cgroup/pids", "/sys/fs/cgroup")  # the first and the second version
# Since then the kernel counts the processes of each user namespace apart; before, all of a user's count.
_NAMESPACED_COUNT_SINCE = (5, 14)
# Limits are set by a shell that becomes the command: between fork and exec no Python may run where there are threads.
_LIMIT_SCRIPT = 'ulimit -c 0; ulimit -p "$1" 2>/dev/null || ulimit -u "$1" 2>/dev/null; shift; exec "$@"'
_JOIN_SCRIPT = '{ echo $$ > "$1"; } 2>/dev/null; shift; exec "$@"'
_GROUP_PREFIX = "marid-"


def with_process_limit(argv: Sequence[str], max_processes: int, *, release: str, confined: bool) -> tuple[str, ...]:
    """The command with at most `most` processes and no core dumps; `release` is that of the kernel."""
    apart = confined and _version(release) >= _NAMESPACED_COUNT_SINCE
    number = max_processes if apart else max_processes + descendants.machine_thread_count()
    return ("/bin/sh", "-c", _LIMIT_SCRIPT, "sh", str(number), *argv)


def _version(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdecimal())


def in_control_group(argv: Sequence[str], group: str | None) -> tuple[str, ...]:
    """The command in a control group, if there is one."""
    return tuple(argv) if group is None else ("/bin/sh", "-c", _JOIN_SCRIPT, "sh", f"{group}/cgroup.procs", *argv)


@contextlib.contextmanager
def control_group(max_processes: int, places: Sequence[str] = CGROUP_ROOTS) -> Generator[str | None]:
    """A control group of at most `most` processes and threads, while this lasts; None where we may not make one."""
    name = f"{_GROUP_PREFIX}{os.getpid()}-{token_hex(4)}"
    group = next((path for place in places if _create_group(path := os.path.join(place, name), max_processes)), None)
    try:
        yield group
    finally:
        if group is not None:
            _remove(group)


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
    except OSError:  # this kind of group is not counted here
        os.rmdir(group)
        return False
    return True


def _remove(group: str) -> None:
    """The kernel may need a moment to let go of the dead; what is left then, `sweep` removes."""
    for wait in (0.0, 0.01, 0.1, 0.5):
        time.sleep(wait)
        with contextlib.suppress(OSError):
            os.rmdir(group)
            return


def remove_stale_groups(places: Sequence[str] = CGROUP_ROOTS) -> None:
    """Remove the groups of programs that were killed."""
    for place in places:
        with contextlib.suppress(OSError):
            for name in os.listdir(place):
                owner = name.removeprefix(_GROUP_PREFIX).partition("-")[0]
                if name.startswith(_GROUP_PREFIX) and not os.path.exists(f"/proc/{owner}"):
                    os.rmdir(os.path.join(place, name))
