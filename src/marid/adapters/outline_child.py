"""The worker's side of the outlines: parses what comes in on a pipe until the pipe is closed.

Run as a module with the target's name and the limits. Whatever goes wrong here ends the process; the other side then
knows that the file has no outline.
"""

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import cast

from marid.adapters.frames import receive, send

Target = Callable[[bytes, str], str | None]

READY = b"ready"
MOST = (1 << 32) - 1
NOTHING, SOMETHING = b"-", b"+"


def serve(source: int, sink: int, target: Target, *, cpu_seconds: int) -> None:
    """Answer until nobody asks; `cpu_seconds` is for each file, in case the one that would kill us is dead itself."""
    send(sink, READY)
    while (language := receive(source, most=MOST)) is not None and (data := receive(source, most=MOST)) is not None:
        limit("RLIMIT_CPU", _cpu_used() + 1 + cpu_seconds)
        text = target(data, language.decode())
        send(sink, NOTHING if text is None else SOMETHING + text.encode("utf-8", "replace"))


def load(name: str) -> Target:
    """The function that `module:function` names."""
    module, _, function = name.partition(":")
    return cast("Target", getattr(import_module(module), function))


def limit(name: str, most: int) -> None:
    """Set a limit of this process, as far as the system knows it and allows it."""
    try:
        import resource  # not on every system

        number: int = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (ImportError, OSError, ValueError):
        return


def _cpu_used() -> int:
    used = os.times()
    return int(used.user + used.system)


def private_pipes() -> tuple[int, int]:
    """Standard input and output under other numbers; what a parser prints must not become part of an answer."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    return source, sink


def main(target: str, memory: str, cpu_seconds: str) -> None:
    """Serve the other end of our standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    source, sink = private_pipes()
    limit("RLIMIT_CORE", 0)  # a crash must not leave a file in the user's folder
    limit("RLIMIT_AS", int(memory))
    try:
        function = load(target)
    except (ImportError, AttributeError) as error:
        send(sink, f"{target}: {error}".encode("utf-8", "replace"))
        return
    serve(source, sink, function, cpu_seconds=int(cpu_seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
