"""Commands that are over at once, read without click, which costs more than they do. What is unusual is left to it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from marid.app.app import RequestScope
from marid.core.errors import MaridError
from marid.faces.cli.argv.command_line import CommandLine, parse_count
from marid.faces.flags import LOCATION_FLAGS


class PlainArguments(NamedTuple):
    """The words of a plainly right command: switches, values by flag, and the rest."""

    switches: frozenset[str]
    values: dict[str, str]
    words: tuple[str, ...]


def quick_command(line: CommandLine, open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    """What runs the command of a line; None where click has to read it."""
    choose = _QUICK.get(line.command)
    return None if choose is None or line.given.keys() - LOCATION_FLAGS else choose(line.rest, open_request)


def _conversations(args: Sequence[str], open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    plain = parse_plain_arguments(args, switches=("--json",))
    if plain is None or plain.words not in ((), ("list",)):
        return None
    from marid.faces.cli.operations.conversation_actions import run_list

    return lambda: run_list(open_request(), as_json="--json" in plain.switches)


def _log(args: Sequence[str], open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    plain = parse_plain_arguments(args, switches=("--json", "--all", "-v"), numbers=("-n",))
    if plain is None or len(plain.words) > 1 or "" in plain.words:
        return None
    from marid.faces.cli.operations.conversation_actions import run_log

    word = "".join(plain.words)
    count = parse_count(plain.values.get("-n", "0"))
    on = plain.switches
    return lambda: run_log(open_request(), word, count, whole="--all" in on, verbose="-v" in on, as_json="--json" in on)


def _tool(args: Sequence[str], open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    if not args or args[0].startswith("-"):
        return None
    from marid.faces.cli.operations.tool_call import plain_call

    try:
        return plain_call(open_request(), args[0], args[1:])
    except MaridError:
        return None  # raised again and shown by the click command


_QUICK = {"conversations": _conversations, "log": _log, "tool": _tool}


def parse_plain_arguments(
    args: Sequence[str], switches: Sequence[str] = (), numbers: Sequence[str] = ()
) -> PlainArguments | None:
    """The words of a command that are all well known; None when there is any other."""
    on: set[str] = set()
    values: dict[str, str] = {}
    words: list[str] = []
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg in switches:
            on.add(arg)
        elif arg in numbers and rest and rest[0].removeprefix("-").isdecimal():
            values[arg] = rest.pop(0)
        elif arg.startswith("-"):
            return None
        else:
            words.append(arg)
    return PlainArguments(frozenset(on), values, tuple(words))
