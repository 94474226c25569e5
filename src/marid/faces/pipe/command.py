"""`marid json`: one JSON object in, JSON lines out."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import click
from click.exceptions import Exit

from marid.app import conversations
from marid.app.adjusting import named
from marid.app.app import App
from marid.app.overriding import with_settings
from marid.app.reach import Reach
from marid.core.errors import BadInput, Unavailable
from marid.core.version import __version__
from marid.faces.flag_options import option_of
from marid.faces.pipe.commands import AT_ONCE, ROUNDS
from marid.faces.pipe.ending import Ending
from marid.faces.pipe.request import Request, request_of, secrets_of
from marid.faces.pipe.session import Session
from marid.faces.pipe.settings_shape import config_shape
from marid.faces.pipe.shape import schema
from marid.faces.pipe.stdin import read_object
from marid.faces.pipe.wire import Wire
from marid.faces.reach import reach_of
from marid.faces.signals import Signals

_HELP = """Do what one JSON object on stdin asks for.

Results and the lines of the transcript go to stdout as JSON lines, what happens to stderr as JSON lines; the last of
these says `done`, with ok, or with a code and a message. Nobody can be asked here: what would need an approval is
refused, unless --trust, --allow or flags.trust grants it.
"""


class JsonCommand(click.Command):
    """A command line that is wrong, and one that asks for help, have their last line too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise Exit(Ending(_wire()).run(_raising(BadInput(error.format_message())))) from error
        except Exit as end:
            raise Exit(end.exit_code or Ending(_wire()).run(lambda _signals: None)) from end


def _raising(error: Exception) -> Callable[[Signals], None]:
    def work(_signals: Signals) -> None:
        raise error

    return work


def _wire() -> Wire:
    return Wire(sys.stdout.buffer, sys.stderr.buffer)


def _answer(ctx: click.Context, **flags: Any) -> int:
    wire = _wire()

    def work(signals: Signals) -> None:
        if flags["version"]:
            wire.text(f"marid {__version__}")
        elif flags["json_schema"]:
            wire.text(json.dumps(schema(config_shape()), indent=2))
        else:
            _asked(ctx.obj, flags, wire, signals)

    return Ending(wire).run(work)


def _asked(build: Callable[..., App], flags: dict[str, Any], wire: Wire, signals: Signals) -> None:
    reach = reach_of(flags)
    given = read_object(sys.stdin.buffer if sys.stdin is not None else None)
    wire.hide(secrets_of(given))
    serve(session_of(build, request_of(given), reach, wire, home=flags["own_home"] or ""), signals)


def session_of(build: Callable[..., App], request: Request, reach: Reach, wire: Wire, *, home: str = "") -> Session:
    """What the request is carried out with; a `home` of the command line is stronger than the request's.

    Raises: BadInput for settings that make no sense; NotFound.
    """
    places = {"home": home or request.home, "project": request.project_root}
    app = with_settings(build(**{name: place for name, place in places.items() if place}), request.settings)
    request = replace(request, context=named(app, request.context))
    return Session(app, request, replace(reach, trust=reach.trust or request.trust), wire)


def serve(session: Session, signals: Signals) -> None:
    """The life of a command: what is there is told, what has expired is destroyed, and then it is carried out."""
    app, request = session.app, session.request
    _introduce(session)
    _sweep(session)
    if request.destroy_at is not None or request.destroy_after is not None:
        conversations.expire(app, request.context, at=request.destroy_at, after_inactive=request.destroy_after)
    if request.command in AT_ONCE:
        AT_ONCE[request.command](session)
    else:
        anyio.run(signals.round, lambda: ROUNDS[request.command](session))


def _sweep(session: Session) -> None:
    """A home that cannot be written can still be read."""
    try:
        gone, problem = conversations.sweep(session.app)
    except Unavailable as error:
        session.note(f"conversations that have come to their end stay: {error}")
        return
    if problem:
        session.note(problem)
    if gone:
        session.wire.event("auto_destroyed", count=len(gone), names=gone)


def _introduce(session: Session) -> None:
    """Raises: BadInput for settings that make no sense, before anything is told."""
    settings, _, _, notes = session.app.resolve(session.request.context, {})
    session.wire.hide((settings.api_key, *(row.get("api_key", "") for row in settings.providers.values())))
    names = session.app.toolbox().inventory.names()
    session.wire.event("load_summary", builtin_count=len(names), builtin_names=names, plugin_count=0, plugin_names=[])
    for note in dict.fromkeys((*session.request.notes, *session.app.notes, *notes)):
        session.note(note)


command = JsonCommand(
    "json",
    params=[
        click.Option(["--json-schema"], is_flag=True, help="Print the JSON schema of the input."),
        click.Option(["--version"], is_flag=True, help="Print the version."),
        *(option_of(name) for name in ("allow", "trust")),
        click.Option(
            ["--home", "own_home"],
            metavar="DIR",
            help="Where marid keeps its own files; stronger than `home` of the input.",
        ),
    ],
    callback=click.pass_context(_answer),
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
