"""The self-test of the sandbox: a command inside tries what it must not be able to do."""

import os
import tempfile
from collections.abc import Callable

from marid.core.errors import MaridError
from marid.ports.processes import ProcessCommand, ProcessResult, SandboxState

# Each printed line is a hole. `$1` is a file outside of the root. Redirections are in braces, since a failing one would
# end the shell.
_PROBE_SCRIPT = """
{ true > /etc/marid; } 2>/dev/null && echo 'can write outside of its roots'
[ -e "$1" ] && echo 'can see files of its user'
{ true > .git/marid; } 2>/dev/null && echo 'can write in .git'
{ true > made; } 2>/dev/null || echo 'cannot write in its roots'
unshare -U true 2>/dev/null && echo 'can make namespaces'
while read -r name value; do
    case $name$value in
        CapEff:*[!0]*) echo 'has capabilities' ;;
        NoNewPrivs:0) echo 'can gain privileges' ;;
    esac
done < /proc/self/status
while read -r name rest; do
    case $name in Inter-* | face | lo:*) ;; *) echo 'has a network' ;; esac
done < /proc/net/dev
echo tried
"""
PROBE_TIMEOUT = 10.0


def probe_sandbox(run: Callable[[ProcessCommand], ProcessResult], state: str) -> SandboxState:
    """The result; `run` runs a command confined, `state` is our folder."""
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="probe-", dir=state) as folder:
            root, canary = (os.path.join(os.path.realpath(folder), name) for name in ("root", "canary"))
            os.makedirs(os.path.join(root, ".git"))
            os.close(os.open(canary, os.O_CREAT | os.O_EXCL))
            argv = ("/bin/sh", "-c", _PROBE_SCRIPT, "sh", canary)
            ran = run(ProcessCommand(argv=argv, cwd=root, roots=(root,), seconds=PROBE_TIMEOUT))
    except OSError as error:
        return SandboxState(confined=False, reason=f"the sandbox could not be tested: {error.strerror}")
    except MaridError as error:
        return SandboxState(confined=False, reason=f"the sandbox does not work here: {error}")
    holes = ran.out.split("\n")
    if holes == ["tried", ""]:
        return SandboxState(confined=True)
    words = ", ".join(line for line in holes if line not in ("tried", "")) or "it did not answer"
    return SandboxState(confined=False, reason=f"the sandbox does not hold: a command inside {words}")
