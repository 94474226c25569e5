"""The worker's side: does the work that comes in on a pipe until the pipe is closed.

Run as a module with the limits. An error of our families and a lack of memory are answers; whatever else goes wrong
ends the process, and the other side then knows that this work cannot be done.
"""

import gc
import os
import pickle
import signal
import sys
from importlib import import_module
from typing import Any

from marid.adapters.workers.framing import receive, send
from marid.core.errors import Exhausted, MaridError

READY = b"ready"
MAX_MESSAGE = (1 << 32) - 1
DONE, FAILED, BROKEN = "done", "failed", "broken"

# So many questions between two looks for garbage.
_TIDY = 64
TOO_MUCH = "that takes more memory or deeper nesting than a parser may have"


def serve(source: int, sink: int, *, cpu_seconds: int) -> None:
    """Answer until nobody asks; `cpu_seconds` is for each, in case the one that would kill us is dead itself."""
    send(sink, READY)
    served = 0
    while (question := receive(source, max_size=MAX_MESSAGE)) is not None:
        set_limit("RLIMIT_CPU", _cpu_seconds() + 1 + cpu_seconds)
        send(sink, pickle.dumps(answer_calls(question), pickle.HIGHEST_PROTOCOL))
        served += 1
        if served % _TIDY == 0:
            gc.collect()  # after the answer, when nobody waits


def answer_calls(question: bytes) -> list[tuple[str, Any]]:
    """What became of each call of a question, which only our own side can have sent."""
    module, name, calls = pickle.loads(question)  # noqa: S301 - it comes from the process that started us
    work = getattr(import_module(module), name)
    return [_run_call(work, args, kwargs) for args, kwargs in calls]


def _run_call(work: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
    try:
        return DONE, work(*args, **kwargs)
    except MaridError as error:
        return FAILED, (error.code, str(error))
    except (MemoryError, RecursionError):
        return FAILED, (Exhausted.code, TOO_MUCH)
    except Exception as error:  # noqa: BLE001 - a bug in the work is told to whoever waits, not to the void
        return BROKEN, f"{getattr(work, '__name__', '')}: {type(error).__name__}: {error}"


def set_limit(name: str, maximum: int) -> None:
    """Set a limit of this process, as far as the system knows it and allows it."""
    try:
        import resource  # not on every system

        number: int = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (maximum if hard == resource.RLIM_INFINITY else min(maximum, hard), hard))
    except (ImportError, OSError, ValueError):
        return


def _cpu_seconds() -> int:
    used = os.times()
    return int(used.user + used.system)


def claim_stdio() -> tuple[int, int]:
    """Standard input and output under other numbers; what a parser prints must not become part of an answer."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    return source, sink


def main(memory: str, cpu_seconds: str) -> None:
    """Serve the other end of our standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    source, sink = claim_stdio()
    set_limit("RLIMIT_CORE", 0)  # a crash must not leave a file in the user's folder
    set_limit("RLIMIT_AS", int(memory))
    gc.disable()  # syntax trees are many objects and no cycles: looking for those costs a third of the parsing
    serve(source, sink, cpu_seconds=int(cpu_seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
