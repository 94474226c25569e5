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

from marid.core.caller import Caller
from marid.core.errors import INTERRUPTED_STATUS, BadInput, MaridError, Unavailable, exit_code, unwrap_group
from marid.core.suggestions import close_matches, did_you_mean
from marid.core.version import __version__
from marid.faces.cli.argv.command_line import MARKDOWN_PAGE_KEY, CommandLine, parse_command_line, unknown_key_warnings
from marid.faces.cli.quick_commands import quick_command
from marid.faces.cli.view.console import end_terminal_line, error_text, print_line, print_note
from marid.launch.commands import LINKS, command_groups, commands_for, program_name, summaries

if TYPE_CHECKING:
    from marid.app.app import RequestScope

_CALLER = Caller(face="cli")
_GC_THRESHOLD = 100_000
_MIN_SIMILARITY = 0.75
# Whose stderr holds events and nothing else.
_JSON = "json"
# What could not be written may have left some room.
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
        # Imported when used: a plain command line never needs click, which costs more than a small project does.
        from marid.faces.cli.argv.context_options import parse_options

        options = parse_options(args[1:])
        if options is not None:
            return partial(_run_context, options)
    # Seldom: with the usual threshold a tenth of every start goes into looking through what was just imported.
    gc.set_threshold(_GC_THRESHOLD)
    gc.enable()
    link = LINKS.get(called, "")
    if link or not args:
        from marid.launch.program import complete, run_command

        answered = complete(called)
        if answered is not None:
            return lambda: answered
        if link:
            return partial(run_command, CommandLine({}, command=link, rest=tuple(args)), open_request, called)
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
    line = open_request.line = _with_valid_username(line)
    if MARKDOWN_PAGE_KEY in word:
        from marid.faces.cli.operations.markdown_page import page_path, show_page

        return lambda: show_page(open_request(), page_path(word))
    return _choose_command(line, open_request) if line.command else _choose_prompt(line, called, open_request)


def _choose_command(line: CommandLine, open_request: "_RequestOpener") -> Callable[[], int]:
    from marid.bootstrap.environment import disable_pydantic_plugins

    disable_pydantic_plugins()
    quick = quick_command(line, open_request)
    if quick is not None:
        return quick
    from marid.launch.program import run_command

    return partial(run_command, line, open_request)


def _print_version() -> int:
    print_line(f"marid {__version__}")
    return 0


def _with_valid_username(line: CommandLine) -> CommandLine:
    """With a user's name that can be written down, whatever bytes it was given as."""
    name = line.value("username")
    if name.isprintable():
        return line
    from marid.faces.cli.chat.prompt_input import replace_invalid_bytes  # imported when used: such bytes are rare

    return line._replace(given={**line.given, "username": ((replace_invalid_bytes(name),),)})


def _choose_prompt(line: CommandLine, called: str, open_request: "_RequestOpener") -> Callable[[], int]:
    """Flags and words; with neither, a person at a terminal is greeted."""
    from marid.faces.cli.line_runner import is_empty, is_on_terminal, is_piped, run_line

    _hint_at_command(line, commands_for(called))
    if not is_empty(line) or is_piped():
        return partial(run_line, line, open_request)
    if not is_on_terminal():
        return partial(_help, called)
    if called in LINKS:
        return partial(run_line, line, open_request)  # that program reads a prompt
    from marid.faces.cli.view.greeting import greet

    return lambda: greet(open_request()) or 0


def _hint_at_command(line: CommandLine, commands: Collection[str]) -> None:
    """A single word may be a command that was meant: it is said all the same, and the person is told."""
    if line.has_separator or len(line.words) != 1 or not commands:
        return
    word = line.words[0]
    flags = {"help": "--help", "version": "--version"}
    near = [flags[word]] if word in flags else close_matches(word, commands, 1, _MIN_SIMILARITY)
    if near:
        print_note(f"'{word}' is said to the model{did_you_mean([f'marid {near[0]}'])}")


def _help(called: str, *, full: bool = False) -> int:
    from marid.faces.cli.argv.help_page import full_help_page, help_page

    short = help_page(summaries(called), command_groups(called), called)
    print_line(full_help_page(summaries(called), called) if full else short)
    return 0


class _RequestOpener:
    """Begins the request of a command line, once; what a JSON request names is stronger. Remembers its home."""

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
        return f"\nmarid keeps its files in '{self.home}'; --home DIR or MARID_HOME names another place"

    def _is_home_failure(self, error: Unavailable) -> bool:
        cause = error.__cause__
        if isinstance(cause, OSError) and isinstance(cause.filename, str):
            place, home = os.path.join(cause.filename, ""), os.path.join(self.home, "")
            return cause.errno in _HOME_ERRNOS and (place.startswith(home) or home.startswith(place))
        # What was written in another thread has only its words.
        full = os.strerror(errno.ENOSPC) in str(error) and os.path.isdir(self.home)
        return full and _free_bytes(self.home) < _LOW_DISK_BYTES


def _free_bytes(folder: str) -> int:
    """Bytes that are left on a disk."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _run_context(options: dict[str, Any]) -> int:
    if options["watch"]:
        gc.enable()  # this one may go on for days
    from marid.bootstrap.wiring import open_request, with_forks
    from marid.faces.cli.operations.pack_context import run_context

    return run_context(options, lambda: with_forks(open_request(caller=_CALLER)))


def exit_process(code: int) -> NoReturn:
    """End the process now. Taking the interpreter apart object by object would cost another tenth of the run."""
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    with contextlib.suppress(OSError, ValueError):  # the reader has gone, or the stream is closed
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _end_after_broken_pipe() -> int:
    """`| head` has seen enough: end quietly, and keep the interpreter from complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report_unexpected(error: Exception, *, debug: bool) -> int:
    error = unwrap_group(error)
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRNOS:
        print_note(f"the output cannot be written: {error.strerror}")
        return exit_code(Unavailable())
    if debug:
        import traceback

        traceback.print_exception(error)
    else:
        print_note(f"a bug: {type(error).__name__}: {error}\nRun it with `marid --debug all ...` to see where.")
    return exit_code(error)
