"""The flags by which a person says what tools may touch and do."""

from typing import Any

import click

from marid.app.reach import Reach
from marid.core.policy_table import effects_from
from marid.faces.cli.words import ASKED_FOR, path, some_of

OPTIONS: tuple[click.Option, ...] = (
    click.Option(
        ["--root", "roots"],
        multiple=True,
        metavar="DIR",
        help="A folder that tools may touch; repeatable.",
        shell_complete=path("dir"),
    ),
    click.Option(
        ["--file", "files"],
        multiple=True,
        metavar="FILE",
        help="A single file besides; repeatable.",
        shell_complete=path("file"),
    ),
    click.Option(
        ["--allow"],
        multiple=True,
        metavar="EFFECTS",
        help="Do not ask for: write, exec, net, spawn.",
        shell_complete=some_of(ASKED_FOR),
    ),
    click.Option(["--trust"], is_flag=True, help="Do not ask for anything."),
    click.Option(["--read-only"], is_flag=True, help="Only tools that change nothing."),
    click.Option(["--wait"], is_flag=True, help="Let a question wait for an answer from elsewhere (marid approvals)."),
)
NAMES = tuple(str(option.name) for option in OPTIONS)


def reach_of(*given: dict[str, Any]) -> Reach:
    """What the flags say; given twice, before and after the tool's name, they add up.

    Raises: BadInput for an effect that is none.
    """
    words = ",".join(word for flags in given for word in flags.get("allow", ()))
    return Reach(
        roots=tuple(root for flags in given for root in flags.get("roots", ())),
        files=tuple(file for flags in given for file in flags.get("files", ())),
        allow=effects_from(words) if words else frozenset(),
        trust=any(flags.get("trust") for flags in given),
        read_only=any(flags.get("read_only") for flags in given),
        wait=any(flags.get("wait") for flags in given),
    )
