"""Call a tool and print its result, for `marid tool NAME` and `-P NAME JSON`."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from marid.app.app import RequestScope
from marid.app.tool_session import ToolAccess, call_blocking, notice_listener, open_tools
from marid.core.errors import EXIT_STATUS, BadInput, MaridError
from marid.faces.cli.chat.terminal_asker import open_terminal_asker
from marid.faces.cli.view.console import print_line, print_note
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput
from marid.toolkit.spec import ToolSpec


def quick_tool(args: Sequence[str], open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    """What runs `marid tool NAME` with plain flags; None if click has to parse the line, or to print an error."""
    if not args or args[0].startswith("-"):
        return None
    name, *words = args
    as_json = words[-1:] == ["--json"]
    try:
        scope = open_request()
        spec = scope.app.toolbox().inventory.get(name)
        given = parse_plain_flags(spec, words[:-1] if as_json else words) if spec and spec.name == name else None
    except MaridError:
        return None  # raised again and shown by the click command
    if given is None:
        return None
    return lambda: print_call(lambda: call_tool(scope, ToolAccess(), name, given), as_json=as_json)


def parse_plain_flags(spec: ToolSpec, words: Sequence[str]) -> dict[str, object] | None:
    """Values by parameter, if the words are pairs `--name value` of different parameters that take one value."""
    from marid.toolkit.params import is_word, tool_params  # imported when used: it brings pydantic-core

    plain = {
        spelling: parameter
        for parameter, (hint, _) in tool_params(spec).fields.items()
        if is_word(hint)
        for spelling in (f"--{parameter}", f"--{parameter.replace('_', '-')}")
    }
    pairs = list(zip(words[::2], words[1::2], strict=False))
    given: dict[str, object] = {
        plain[flag]: value for flag, value in pairs if flag in plain and not value.startswith("-")
    }
    return given if len(given) * 2 == len(words) else None


def call_arguments(
    made: Mapping[str, Any], given: Mapping[str, Any], packed: str | None, taker: str = "--args takes"
) -> dict[str, object]:
    """The arguments of a call: those packed into one JSON object, overridden by flags. `taker` begins the message of an
    error. Raises: BadInput for text that is not a JSON object.
    """
    args = _parse_packed_args(packed, taker) if packed is not None else {}
    for parameter, about in made["properties"].items():
        value = given.get(parameter)
        if value is None or value == ():
            continue
        args[parameter] = _parse_json(value, f"--{parameter} takes JSON") if _takes_json(about) else value
    return args


def _takes_json(about: Mapping[str, Any]) -> bool:
    kinds = {about.get("type"), *(one.get("type") for one in about.get("anyOf", ()))}
    return "object" in kinds and "string" not in kinds


def _parse_json(text: str, expected: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{expected}: {error}") from error


def _parse_packed_args(packed: str, taker: str) -> dict[str, object]:
    value = _parse_json(sys.stdin.read() if packed == "-" else packed, f"{taker} a JSON object")
    if not isinstance(value, dict):
        raise BadInput(f"{taker} a JSON object, not {type(value).__name__}")
    return cast("dict[str, object]", value)


def call_tool(scope: RequestScope, access: ToolAccess, name: str, args: Mapping[str, object]) -> Outcome:
    """The outcome of a call; questions go to the terminal. Raises: BadInput, NotFound."""
    for note in scope.notes:
        print_note(note)
    asker = open_terminal_asker(colour=scope.colour)
    session = open_tools(scope, access, asker, notice_listener(print_note))
    try:
        return call_blocking(scope, session, name, args)
    finally:
        session.close()


def print_call(call: Callable[[], Outcome], *, as_json: bool) -> int:
    """Make a call and print its outcome; returns the exit code. With `as_json` an error is an outcome too."""
    try:
        outcome = call()
    except MaridError as error:
        if not as_json:
            raise
        outcome = ToolFailure(code=error.code, message=str(error))
    return print_outcome(outcome, as_json=as_json)


def print_outcome(outcome: Outcome, *, as_json: bool) -> int:
    """Print an outcome; the exit code is its family's."""
    match outcome:
        case ToolOutput(text=text, values=values):
            fields = {"ok": True, "result": text, **({"values": dict(values)} if values else {})}
            print_line(json.dumps(fields) if as_json else text.removesuffix("\n"))
            return 0
        case ToolFailure(code=family, message=message):
            if as_json:
                print_line(json.dumps({"ok": False, "code": family, "message": message}))
            else:
                print_note(message)
            return EXIT_STATUS[family]
