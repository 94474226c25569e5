"""`marid resume`: go on where a round broke off."""

from dataclasses import replace
from typing import Any

import click

from marid.app.app import App
from marid.faces.cli import operations
from marid.faces.cli.names import NameArgument
from marid.faces.cli.talk import talk
from marid.faces.cli.talk_options import HELP_NAMES, OPTIONS, talk_of

_HELP = """Go on where the last round of a conversation broke off, without a new message.

After Ctrl-C, a crash or a service that went away: what was said and done is kept, and the model goes on from there. A
call that was interrupted is not made again; the model is told. Without NAME it is the current conversation.
"""


def _resume(ctx: click.Context, name: str, **given: Any) -> int:
    app: App = ctx.obj()
    return talk(app, replace(talk_of(operations.found(app, name), "", given), resume=True))


command = click.Command(
    "resume",
    params=[
        *OPTIONS,
        NameArgument("name"),
    ],
    callback=click.pass_context(_resume),
    help=_HELP,
    context_settings=HELP_NAMES,
)
