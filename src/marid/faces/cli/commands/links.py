"""`marid links`: link the names of programs that marid replaces."""

import os
import sys

import click

from marid.core.errors import BadInput, NotFound, Refused
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.view.console import print_line

NAMES = ("jinni", "chibi", "chibi-json")


@click.command("links", cls=HelpCommand)
@click.argument("folder", type=click.Path())
def command(folder: str) -> int:
    """Create links in FOLDER for the programs that marid replaces: jinni, chibi and chibi-json.

    `jinni` is `marid context` with jinni's options, `chibi` has marid's flags and takes a prompt but no commands, and
    `chibi-json` is `marid json`. An existing file that is not a link to marid is never overwritten.
    """
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) != "marid":
        raise BadInput("run the installed program `marid` to link to it")
    if not os.path.isdir(folder):
        raise NotFound(f"{folder}: no such folder")
    for name in NAMES:
        print_line(_link(program, os.path.join(folder, name)))
    return 0


def _link(program: str, place: str) -> str:
    if os.path.islink(place) and os.path.realpath(place) == os.path.realpath(program):
        return f"{place} already exists"
    if os.path.lexists(place):
        raise BadInput(f"{place} exists and is not a link to marid; remove it first")
    try:
        os.symlink(program, place)
    except OSError as error:
        raise Refused(f"{place}: {(error.strerror or 'cannot be created').lower()}") from error
    return f"{place} -> {program}"
