"""How many processes a command may have: a limit of the kernel, as no watcher is quicker than a fork bomb.

A limit of the process does it for everybody but root, whom the kernel exempts even in a user namespace. For root there
is a control group, where one can be made.
"""

import contextlib
import os
import time
from collections.abc import Generator, Sequence
from secrets import token_hex

from marid.adapters import descendants

MOST_PROCESSES = 1024
GROUPS = ("/sys/fs/cgroup/pids", "/sys/fs/cgroup")  # the first and the second version
# Since then the kernel counts the processes of each user namespace apart; before, all of a user's count.
_COUNTED_APART = (5, 14)
# Limits are set by a shell that becomes the command: between fork and exec no Python may run where there are threads.
_LIMITED = 'ulimit -c 0; ulimit -p "$1" 2>/dev/null || ulimit -u "$1" 2>/dev/null; shift; exec "$@"'
_JOINED = '{ echo $$ > "$1"; } 2>/dev/null; shift; exec "$@"'
_OURS = "marid-"


def limited(argv: Sequence[str], most: int, *, release: str, confined: bool) -> tuple[str, ...]:
    """The command with at most `most` processes and no core dumps; `release` is that of the kernel."""
    apart = confined and _version(release) >= _COUNTED_APART
    number = most if apart else most + descendants.threads()
    return ("/bin/sh", "-c", _LIMITED, "sh", str(number), *argv)


def _version(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdecimal())


def joined(argv: Sequence[str], group: str | None) -> tuple[str, ...]:
    """The command in a control group, if there is one."""
    return tuple(argv) if group is None else ("/bin/sh", "-c", _JOINED, "sh", f"{group}/cgroup.procs", *argv)


@contextlib.contextmanager
def control_group(most: int, places: Sequence[str] = GROUPS) -> Generator[str | None]:
    """A control group of at most `most` processes and threads, while this lasts; None where we may not make one."""
    name = f"{_OURS}{os.getpid()}-{token_hex(4)}"
    group = next((path for place in places if _made(path := os.path.join(place, name), most)), None)
    try:
        yield group
    finally:
        if group is not None:
            _remove(group)


def _made(group: str, most: int) -> bool:
    if not os.path.exists(os.path.join(os.path.dirname(group), "cgroup.procs")):
        return False
    try:
        os.mkdir(group)
    except OSError:
        return False
    try:
        with open(os.path.join(group, "pids.max"), "r+b", buffering=0) as file:
            file.write(b"%d" % most)
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


def sweep(places: Sequence[str] = GROUPS) -> None:
    """Remove the groups of programs that were killed."""
    for place in places:
        with contextlib.suppress(OSError):
            for name in os.listdir(place):
                owner = name.removeprefix(_OURS).partition("-")[0]
                if name.startswith(_OURS) and not os.path.exists(f"/proc/{owner}"):
                    os.rmdir(os.path.join(place, name))
