"""Completion in real shells."""

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

SECONDS = 60.0
# Shows the words of a line as the shell took them.
_SHOW = "words() { printf '<%s>' \"$@\"; echo; echo 'all 'shown; }\n"
_COMMANDS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
_LOAD = {
    "bash": 'eval "$(marid completion bash)"\n',
    "zsh": 'autoload -Uz compinit && compinit -u -D; eval "$(marid completion zsh)"\n',
}


def complete_line(shell: str, line: str, folder: Path) -> list[str]:
    """The words of the line after `line` was typed in bash or zsh; a tab in it is the Tab key."""
    master, end = pty.openpty()
    child = subprocess.Popen(
        _COMMANDS[shell],
        stdin=end,
        stdout=end,
        stderr=end,
        cwd=folder,
        env={**os.environ, "TERM": "dumb", "PS1": "$ ", "INPUTRC": "/dev/null"},
        start_new_session=True,
    )
    os.close(end)
    try:
        os.write(master, (_SHOW + _LOAD[shell] + "echo re''ady\n").encode())
        _read_until(master, r"\nready")
        # To the beginning of the line: what was typed becomes what is shown.
        os.write(master, f"{line}\x01words \n".encode())
        shown = _read_until(master, r"\nall shown")
    finally:
        child.kill()
        child.wait()
        os.close(master)
    return re.findall(r"<(.*?)>", shown.rpartition("\nall shown")[0].rpartition("\n")[2])


def _read_until(master: int, pattern: str) -> str:
    until = time.monotonic() + SECONDS
    shown = ""
    while not re.search(pattern, shown):
        ready, _, _ = select.select([master], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise AssertionError(f"{pattern!r} never came: {shown!r}")
        shown += os.read(master, 65536).decode(errors="replace").replace("\r\n", "\n").replace("\r", "")
    return shown


def fish_completions(line: str) -> list[str]:
    """What fish offers at the end of the line."""
    script = f"marid completion fish | source; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, timeout=SECONDS, check=True)
    return [row.partition("\t")[0] for row in done.stdout.decode().splitlines()]
