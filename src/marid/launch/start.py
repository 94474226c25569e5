"""The program starts here: runs a command and turns every error into an exit code, once."""

import atexit
import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from marid.core.caller import Caller
from marid.core.errors import INTERRUPTED_STATUS, BadInput, MaridError, Unavailable, exit_code, unwrap_group
from marid.core.suggestions import did_you_mean
from marid.core.version import __version__
from marid.faces.cli.argv.command_line import (
    MARKDOWN_PAGE_KEY,
    CommandLine,
    near_command,
    parse_command_line,
    unknown_key_warnings,
)
from marid.faces.cli.view.console import (
    end_terminal_line,
    error_text,
    print_line,
    print_note,
    replace_invalid_bytes,
    write_stderr,
)
from marid.faces.flags import LOCATION_FLAGS
from marid.launch.commands import COMMANDS, LINKS, command_groups, commands_for, program_name, summaries

if TYPE_CHECKING:
    from marid.app.app import RequestScope

_CALLER = Caller(face="cli")
_GC_THRESHOLD = 100_000
# A command whose stderr has events only.
_JSON = "json"
# A write that failed may have left some room.
_LOW_DISK_BYTES = 1_000_000
_HOME_ERRNOS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOSPC})
_OUTPUT_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run(argv: Sequence[str]) -> int:
    """Run the command line `argv` and return the exit code."""
    open_request = _RequestOpener()
    try:
        return _choose_action(os.path.basename(argv[0]), list(argv[1:]), open_request)()
    except KeyboardInterrupt:
        end_terminal_line()
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        return _end_after_broken_pipe()
    except MaridError as error:
        print_note(error_text(error) + open_request.home_hint(error))
        return exit_code(error)
    except Exception as error:  # noqa: BLE001 - the outermost ring: a bug becomes exit 70 and a hint, here only
        return _report_unexpected(error, debug=any(arg.split("=")[0] == "--debug" for arg in argv))


def _choose_action(called: str, args: list[str], open_request: "_RequestOpener") -> Callable[[], int]:
    """What a command line asks for. Choosing first and running then keeps the way from `main` to a verb short."""
    if called not in LINKS and args[:1] == ["context"]:
        # Imported when used: other commands have no such table.
        from marid.faces.cli.argv.option_tables import parse_options

        options = parse_options(args[1:])
        if options is not None:
            return partial(_run_context, options)
    # Seldom: with the usual threshold a tenth of every start goes into looking through what was just imported.
    gc.set_threshold(_GC_THRESHOLD)
    gc.enable()
    link = LINKS.get(called, "")
    if link or not args:
        # Imported when used: click costs more than a small project does.
        from marid.launch.program import complete

        answered = complete(called)
        if answered is not None:
            return lambda: answered
        if link:
            return _choose_command(CommandLine({}, command=link, rest=tuple(args)), called, open_request)
    line = parse_command_line(args, commands_for(called))
    return _choose_for_line(line, program_name(called), open_request)


def _choose_for_line(line: CommandLine, called: str, open_request: "_RequestOpener") -> Callable[[], int]:
    """What a line of flags and words asks for; click is imported only where a command needs it."""
    if line.has("version"):
        return _print_version
    if line.has("help") or line.has("help_all"):
        return partial(_help, called, full=line.has("help_all"))
    if (word := line.value("debug")) in commands_for(called):
        raise BadInput(f"--debug takes KEYS: write `{called} --debug all {word}`")
    for warning in unknown_key_warnings(word):
        if line.command != _JSON:
            print_note(warning)
    if not (name := line.value("username")).isprintable():
        line = line._replace(given={**line.given, "username": ((replace_invalid_bytes(name),),)})
    open_request.line = line
    if pages := [key for key in word.split(",") if key.startswith(MARKDOWN_PAGE_KEY)]:
        from marid.faces.cli.line_rounds import show_page

        return lambda: show_page(open_request(), pages[0].removeprefix(MARKDOWN_PAGE_KEY))
    choose = _choose_command if line.command else _choose_prompt
    return choose(line, called, open_request)


def _choose_command(line: CommandLine, called: str, open_request: "_RequestOpener") -> Callable[[], int]:
    """A plain line of some commands is read without click."""
    if called not in LINKS and (quick := COMMANDS[line.command].quick) and not line.given.keys() - LOCATION_FLAGS:
        module, _, function = quick.partition(":")
        action: Callable[[], int] | None = getattr(import_module(module), function)(line.rest, open_request)
        if action is not None:
            return action
    from marid.launch.program import run_command

    return partial(run_command, line, open_request, called)


def _print_version() -> int:
    print_line(f"marid {__version__}")
    return 0


def _choose_prompt(line: CommandLine, called: str, open_request: "_RequestOpener") -> Callable[[], int]:
    """Flags and words; without both, a greeting on a terminal and else the help."""
    from marid.faces.cli.line_runner import is_empty, is_piped, run_line

    _check_lone_word(line, commands_for(called))
    if not is_empty(line) or is_piped():
        return partial(run_line, line, open_request)
    if not sys.stdout.isatty():
        return partial(_help, called)
    if called in LINKS:
        return partial(run_line, line, open_request)  # that program reads a prompt
    from marid.faces.cli.view.greeting import greet

    return lambda: greet(open_request()) or 0


def _check_lone_word(line: CommandLine, commands: Collection[str]) -> None:
    """A single word may be a misspelt command: the user is asked before it is sent. Raises: BadInput."""
    if line.has_separator or len(line.words) != 1 or not (near := near_command(line.words[0], commands)):
        return
    problem = f"unknown command '{line.words[0]}'{did_you_mean([f'marid {near}'])}"
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise BadInput(f"{problem} `marid say {line.words[0]}` sends it to the model")
    print_note(problem)
    write_stderr("Send it to the model? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise BadInput("nothing was sent")


def _help(called: str, *, full: bool = False) -> int:
    from marid.faces.help_page import full_help_page, help_page

    short = help_page(summaries(called), command_groups(called), called)
    print_line(full_help_page(summaries(called), called) if full else short)
    return 0


class _RequestOpener:
    """Opens the request of a command line once; what a JSON request names overrides the line. Remembers the home."""

    def __init__(self) -> None:
        self.line = CommandLine({})
        self._opened: dict[tuple[str, str], RequestScope] = {}
        self.home = ""

    def __call__(self, *, home: str | None = None, project: str | None = None) -> "RequestScope":
        from marid.bootstrap.wiring import open_request

        places = home or self.line.value("home"), project or self.line.value("project_root")
        if places not in self._opened:
            self._opened[places] = open_request(home=places[0], project=places[1], caller=_CALLER)
        self.home = self._opened[places].app.home
        return self._opened[places]

    def home_hint(self, error: MaridError) -> str:
        """Where marid keeps its files, if it is the home that cannot be used and not a named file or a service."""
        if not isinstance(error, Unavailable) or not self.home or not self._is_home_failure(error):
            return ""
        return f"\nmarid keeps its files in '{self.home}'; choose another folder with --home DIR or MARID_HOME"

    def _is_home_failure(self, error: Unavailable) -> bool:
        cause = error.__cause__
        if isinstance(cause, OSError) and isinstance(cause.filename, str):
            place, home = os.path.join(cause.filename, ""), os.path.join(self.home, "")
            return cause.errno in _HOME_ERRNOS and (place.startswith(home) or home.startswith(place))
        # What was written in another thread has only its words.
        if os.strerror(errno.ENOSPC) not in str(error) or not os.path.isdir(self.home):
            return False
        disk = os.statvfs(self.home)
        return disk.f_bavail * disk.f_frsize < _LOW_DISK_BYTES


def _run_context(options: dict[str, Any]) -> int:
    if options["watch"]:
        gc.enable()  # this one may go on for days
    from marid.bootstrap.wiring import open_request, with_forks
    from marid.faces.cli.operations.pack_context import run_context

    return run_context(options, lambda: with_forks(open_request(caller=_CALLER)))


def exit_process(code: int) -> NoReturn:
    """End the process now. Taking the interpreter apart object by object would cost another tenth of the run."""
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader has gone, or the stream is closed
            stream.flush()
    os._exit(code)


def _end_after_broken_pipe() -> int:
    """`| head` has seen enough: end quietly, and keep the interpreter from complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report_unexpected(error: Exception, *, debug: bool) -> int:
    error = unwrap_group(error)
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRNOS:
        print_note(f"cannot write the output: {error.strerror}")
        return exit_code(Unavailable())
    if debug:
        import traceback

        traceback.print_exception(error)
    else:
        print_note(f"a bug: {type(error).__name__}: {error}\nRun `marid --debug all ...` to see where.")
    return exit_code(error)
