"""The program starts here: runs a command and turns every error into an exit code, once."""

import atexit
import contextlib
import errno
import gc
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from marid.core.errors import MaridError, Unavailable
from marid.faces.cli.exits import INTERRUPTED, exit_code, say

_SELDOM = 100_000
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run(argv: Sequence[str]) -> int:
    """Run the command line `argv` and return the exit code."""
    try:
        return _dispatch(os.path.basename(argv[0]), list(argv[1:]))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except MaridError as error:
        say(str(error))
        return exit_code(error)
    except Exception as error:  # noqa: BLE001 - the outermost ring: a bug becomes exit 70 and a hint, here only
        return _unforeseen(error, debug="--debug" in argv)


def _dispatch(called: str, args: list[str]) -> int:
    if called != "jinni" and args[:1] == ["context"]:
        # Imported when used: a plain command line never needs click, which costs more than a small project does.
        from marid.faces.cli.options import parse

        options = parse(args[1:])
        if options is not None:
            return _quickly(options)
    # Seldom: with the usual threshold a tenth of every start goes into looking through what was just imported.
    gc.set_threshold(_SELDOM)
    gc.enable()
    from marid.launch.program import main

    return main(called, args)


def _quickly(options: dict[str, Any]) -> int:
    if options["watch"]:
        gc.enable()  # this one may go on for days
    from marid.bootstrap.wiring import build
    from marid.faces.cli.context import execute

    return execute(options, partial(build, one_shot=True))


def leave(code: int) -> NoReturn:
    """End the process now. Taking the interpreter apart object by object would cost another tenth of the run."""
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    with contextlib.suppress(OSError, ValueError):  # the reader has gone, or the stream is closed
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _reader_gone() -> int:
    """`| head` has seen enough: end quietly, and keep the interpreter from complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _unforeseen(error: Exception, *, debug: bool) -> int:
    if isinstance(error, OSError) and error.errno in _FULL:
        say(f"the output cannot be written: {error.strerror}")
        return exit_code(Unavailable())
    if debug:
        import traceback

        traceback.print_exception(error)
    else:
        say(f"a bug: {type(error).__name__}: {error}\nRun it with `marid --debug ...` to see where.")
    return exit_code(error)
