"""`marid json`: one JSON object in, JSON lines out."""

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import anyio
import click
from click.exceptions import Exit

from marid.app import conversations
from marid.app.app import RequestScope
from marid.app.conversation_settings import conversation_name
from marid.app.tool_session import ToolAccess, access_from_flags
from marid.core.caller import Caller
from marid.core.command_events import AutoDestroyed, LoadSummary
from marid.core.errors import BadInput
from marid.core.version import __version__
from marid.faces.click_command import HelpCommand, click_option
from marid.faces.pipe import conversation_commands, round_commands
from marid.faces.pipe.done_line import DoneLine
from marid.faces.pipe.input_schema import input_schema
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.pipe.json_request import JsonRequest, JsonSession, find_secrets, parse_request, read_object
from marid.faces.signals import SignalGuard

SYNC_COMMANDS: Mapping[str, Callable[[JsonSession], None]] = MappingProxyType(
    {one.__name__: one for one in conversation_commands.COMMANDS}
)
ASYNC_COMMANDS: Mapping[str, Callable[[JsonSession], Awaitable[None]]] = MappingProxyType(
    {one.__name__: one for one in round_commands.COMMANDS}
)


class JsonCommand(HelpCommand):
    """Writes the last line also for a wrong command line and for --help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise Exit(_write_last_line(BadInput(error.format_message()))) from error
        except Exit as end:
            raise Exit(end.exit_code or _write_last_line(None)) from end


def _write_last_line(error: Exception | None) -> int:
    done = DoneLine(_make_writer())
    with done.guard():
        if error is not None:
            raise error
    return done.exit_code


def _make_writer() -> JsonLineWriter:
    return JsonLineWriter(sys.stdout.buffer, sys.stderr.buffer)


_PARAMS: list[click.Parameter] = [
    click.Option(["--json-schema"], is_flag=True, help="Print the JSON schema of the input."),
    click.Option(["--version"], is_flag=True, help="Print the version."),
    *map(click_option, ("allow", "trust")),
    click.Option(
        ["--home", "own_home"], metavar="DIR", help="Keep marid's files in DIR; overrides `home` of the input."
    ),
]


@click.command("json", cls=JsonCommand, params=_PARAMS)
@click.pass_context
def command(ctx: click.Context, *, version: bool, json_schema: bool, own_home: str | None, **flags: Any) -> int:
    """Run the request in one JSON object on stdin.

    Results and entries of the transcript go to stdout, events to stderr, both as JSON lines. The last line on stderr is
    `done`, with ok or with a code and a message. No approval can be asked for: what needs one is refused, unless
    --trust, --allow or flags.trust grants it.
    """
    wire = _make_writer()
    done = DoneLine(wire)
    with done.guard() as signals:
        if version:
            wire.write_text(f"marid {__version__}")
        elif json_schema:
            wire.write_text(json.dumps(input_schema(), indent=2))
        else:
            access = access_from_flags(flags)
            given = read_object(sys.stdin.buffer if sys.stdin is not None else None)
            wire.hide(find_secrets(given))
            session = make_session(ctx.obj, parse_request(given), access, wire, own_home or "")
            run_session(session, signals)
    return done.exit_code


def make_session(
    open_request: Callable[..., RequestScope],
    request: JsonRequest,
    access: ToolAccess,
    wire: JsonLineWriter,
    home: str = "",
) -> JsonSession:
    """The session of a request; `home` of the command line overrides the request's. Raises: BadInput; NotFound."""
    places = {"home": home or request.home, "project": request.project_root}
    scope = open_request(**{name: place for name, place in places.items() if place})
    scope = scope._replace(caller=Caller(face="json"))
    name = conversation_name(scope, request.context)
    scope, request = scope.within(name, request.settings), replace(request, context=name)
    return JsonSession(scope, request, replace(access, trust=access.trust or request.trust), wire)


def run_session(session: JsonSession, signals: SignalGuard) -> None:
    """Announce the tools, sweep expired conversations, and run the command."""
    scope, request = session.scope, session.request
    _announce(session)
    _sweep(session)
    if request.destroy_at is not None or request.destroy_after is not None:
        conversations.expire(scope, request.context, at=request.destroy_at, after_inactive=request.destroy_after)
    if request.command in SYNC_COMMANDS:
        SYNC_COMMANDS[request.command](session)
    else:
        anyio.run(signals.run_cancellable, lambda: ASYNC_COMMANDS[request.command](session))


def _sweep(session: JsonSession) -> None:
    gone, problem, failure = conversations.sweep(session.scope)
    for text in filter(None, (failure, problem)):
        session.note(text)
    if gone:
        session.writer.write_event(AutoDestroyed(len(gone), gone))


def _announce(session: JsonSession) -> None:
    """Raises: BadInput for invalid settings, before any event is written."""
    settings, _, notes = session.scope.resolve()
    model = settings.model
    session.writer.hide((model.api_key, *(row.get("api_key", "") for row in model.providers.values())))
    names = session.scope.toolbox.inventory.names()
    session.writer.write_event(LoadSummary(len(names), names))
    for note in dict.fromkeys((*session.request.notes, *notes)):
        session.note(note)
