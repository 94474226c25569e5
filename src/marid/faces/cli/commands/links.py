"""`marid links`: names of programs that marid replaces."""

import os
import sys

import click

from marid.core.errors import BadInput, NotFound, Refused
from marid.faces.cli.view.console import print_line

NAMES = ("jinni", "chibi", "chibi-json")


@click.command("links", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", type=click.Path())
def command(folder: str) -> int:
    """Make links in FOLDER by which marid answers to the names it replaces.

    Called as `jinni` it is `marid context` with jinni's command line, as `chibi` it has marid's flags and no commands,
    so that all words are said, as `chibi-json` it is `marid json`. A file of that name that is not a link to marid is
    never overwritten.
    """
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) != "marid":
        raise BadInput("call the installed program `marid` to make links to it")
    if not os.path.isdir(folder):
        raise NotFound(f"the folder '{folder}' is not there")
    for name in NAMES:
        print_line(_link(program, os.path.join(folder, name)))
    return 0


def _link(program: str, place: str) -> str:
    if os.path.islink(place) and os.path.realpath(place) == os.path.realpath(program):
        return f"{place} is there already"
    if os.path.lexists(place):
        raise BadInput(f"'{place}' exists and is not a link to marid: remove it first")
    try:
        os.symlink(program, place)
    except OSError as error:
        raise Refused(f"'{place}' cannot be made: {error.strerror}") from error
    return f"{place} -> {program}"
