"""The program starts here: runs a command and turns every error into an exit code, once."""

import atexit
import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from marid.core.errors import BadInput, MaridError, Unavailable, alone
from marid.core.version import __version__
from marid.faces.cli.exits import INTERRUPTED, end_line, exit_code, print_out, say, words_of
from marid.faces.cli.line import PAGE, Line, read_line, strange_keys
from marid.faces.cli.line_quick import quick_command
from marid.launch.table import LINKS, commands_of, name_of, summaries

if TYPE_CHECKING:
    from marid.app.app import App

_SELDOM = 100_000
_NEAR = 0.75
# Whose stderr holds events and nothing else.
_JSON = "json"
# What could not be written may have left some room.
_LITTLE = 1_000_000
_UNUSABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOSPC})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run(argv: Sequence[str]) -> int:
    """Run the command line `argv` and return the exit code."""
    try:
        return _dispatch(os.path.basename(argv[0]), list(argv[1:]))
    except KeyboardInterrupt:
        end_line()
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except MaridError as error:
        say(words_of(error))
        return exit_code(error)
    except Exception as error:  # noqa: BLE001 - the outermost ring: a bug becomes exit 70 and a hint, here only
        return _unforeseen(error, debug=any(arg.split("=")[0] == "--debug" for arg in argv))


def _dispatch(called: str, args: list[str]) -> int:
    if called not in LINKS and args[:1] == ["context"]:
        # Imported when used: a plain command line never needs click, which costs more than a small project does.
        from marid.faces.cli.options import parse

        options = parse(args[1:])
        if options is not None:
            return _quickly(options)
    # Seldom: with the usual threshold a tenth of every start goes into looking through what was just imported.
    gc.set_threshold(_SELDOM)
    gc.enable()
    link = LINKS.get(called, "")
    if link or not args:
        from marid.launch.program import complete, main

        answered = complete(called)
        if answered is not None:
            return answered
        if link:
            return main(called, args)
    return _lined(read_line(args, commands_of(called)), name_of(called))


def _lined(line: Line, called: str) -> int:
    """Carry out a line; click is asked only where a command needs it."""
    if line.has("version"):
        print_out(f"marid {__version__}")
        return 0
    if line.has("help"):
        return _help(called)
    if (word := line.one("debug")) in commands_of(called):
        raise BadInput(f"--debug takes KEYS: write `{called} --debug all {word}`")
    for told in strange_keys(word):
        if line.command != _JSON:
            say(told)
    line = _sound(line)
    make_app = _Workbench(line)
    try:
        return _carried_out(line, make_app, called)
    except Unavailable as error:
        if not make_app.fails_by(error):
            raise
        place = f"marid keeps its files in '{make_app.home}'; --home DIR or MARID_HOME names another place"
        raise Unavailable(f"{error}\n{place}") from error


def _sound(line: Line) -> Line:
    """With a user's name that can be written down, whatever bytes it was given as."""
    name = line.one("username")
    if name.isprintable():
        return line
    from marid.faces.cli.prompt_input import sound  # imported when used: such bytes are rare

    return line._replace(given={**line.given, "username": ((sound(name),),)})


def _carried_out(line: Line, make_app: "Callable[[], App]", called: str) -> int:
    if PAGE in line.one("debug"):
        from marid.faces.cli.markdown_page import named_page, show_page

        return show_page(make_app(), named_page(line.one("debug")))
    if line.command:
        quick = quick_command(line)
        if quick is not None:
            return quick(make_app)
        from marid.launch.program import run_command

        return run_command(line, make_app)
    return _prompted(line, make_app, called)


def _prompted(line: Line, make_app: "Callable[[], App]", called: str) -> int:
    """Flags and words; with neither, a person at a terminal is greeted."""
    from marid.faces.cli.line_run import is_bare, is_piped, on_terminal, run_line

    _hint(line, commands_of(called))
    if not is_bare(line) or is_piped():
        return run_line(line, make_app)
    if not on_terminal():
        return _help(called)
    if called in LINKS:
        return run_line(line, make_app)  # that program reads a prompt
    from marid.faces.cli.greeting import greet

    greet(make_app())
    return 0


def _hint(line: Line, commands: Collection[str]) -> None:
    """A single word may be a command that was meant: it is said all the same, and the person is told."""
    if line.said or len(line.words) != 1 or not commands:
        return
    import difflib  # imported when used: what has more words is a prompt

    word = line.words[0]
    flags = {"help": "--help", "version": "--version"}
    near = [flags[word]] if word in flags else difflib.get_close_matches(word, commands, 1, _NEAR)
    if near:
        say(f"'{word}' is said to the model; did you mean `marid {near[0]}`?")


def _help(called: str) -> int:
    from marid.faces.cli.flags_help import page

    print_out(page(summaries(called), called).removesuffix("\n"))
    return 0


class _Workbench:
    """Makes the one that the flags name; what a request names is stronger. Remembers where its home is."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.home = ""

    def __call__(self, *, home: str | None = None, project: str | None = None) -> "App":
        from marid.bootstrap.wiring import build

        line = self._line
        app = build(home=home or line.one("home") or None, project=project or line.one("project_root") or None)
        self.home = app.settings.home
        return app

    def fails_by(self, error: Unavailable) -> bool:
        """Whether it is our home that cannot be used: neither a file that was named nor a service is."""
        if not self.home:
            return False
        cause = error.__cause__
        if isinstance(cause, OSError) and isinstance(cause.filename, str):
            place, home = os.path.join(cause.filename, ""), os.path.join(self.home, "")
            return cause.errno in _UNUSABLE and (place.startswith(home) or home.startswith(place))
        # What was written in another thread has only its words.
        full = os.strerror(errno.ENOSPC) in str(error) and os.path.isdir(self.home)
        return full and _room(self.home) < _LITTLE


def _room(folder: str) -> int:
    """Bytes that are left on a disk."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


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
    error = alone(error)
    if isinstance(error, OSError) and error.errno in _FULL:
        say(f"the output cannot be written: {error.strerror}")
        return exit_code(Unavailable())
    if debug:
        import traceback

        traceback.print_exception(error)
    else:
        say(f"a bug: {type(error).__name__}: {error}\nRun it with `marid --debug all ...` to see where.")
    return exit_code(error)
