"""Commands that are over at once, read without click, which costs more than they do. What is unusual is left to it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from marid.app.app import RequestScope
from marid.faces.cli.argv.command_line import CommandLine, parse_count
from marid.faces.flags import LOCATION_FLAGS


class PlainArguments(NamedTuple):
    """The words of a plainly right command: switches, values by flag, and the rest."""

    switches: frozenset[str]
    values: dict[str, str]
    words: tuple[str, ...]


def quick_command(line: CommandLine) -> Callable[[Callable[[], RequestScope]], int] | None:
    """What carries out the command of a line; None where click has to look at it."""
    if line.given.keys() - LOCATION_FLAGS:
        return None
    if line.command == "conversations":
        return _conversations(line.rest)
    return _log(line.rest) if line.command == "log" else None


def _conversations(args: Sequence[str]) -> Callable[[Callable[[], RequestScope]], int] | None:
    plain = parse_plain_arguments(args, switches=("--json",))
    if plain is None or plain.words not in ((), ("list",)):
        return None

    def run(open_request: Callable[[], RequestScope]) -> int:
        from marid.faces.cli.operations.conversation_actions import run_list

        return run_list(open_request(), as_json="--json" in plain.switches)

    return run


def _log(args: Sequence[str]) -> Callable[[Callable[[], RequestScope]], int] | None:
    plain = parse_plain_arguments(args, switches=("--json", "--all", "-v"), numbers=("-n",))
    if plain is None or len(plain.words) > 1 or "" in plain.words:
        return None

    def run(open_request: Callable[[], RequestScope]) -> int:
        from marid.faces.cli.operations.conversation_actions import run_log

        word = "".join(plain.words)
        count = parse_count(plain.values.get("-n", "0"))
        on = plain.switches
        return run_log(open_request(), word, count, whole="--all" in on, verbose="-v" in on, as_json="--json" in on)

    return run


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
