"""`marid quarantine`: what commands created under protected names."""

import json
import time

import click

from marid.app import quarantine as verbs
from marid.app.app import RequestScope
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.click_command import ScopedCommand
from marid.text.display import quote_path

_EXAMPLES = (
    ("marid quarantine", "list what commands created and may not keep"),
    ("marid quarantine restore ID", "move it back (the beginning of the ID is enough)"),
    ("marid quarantine delete ID", "delete it for good"),
)


@click.command(cls=ScopedCommand, examples=_EXAMPLES)
@click.argument("action", required=False, type=click.Choice(["restore", "delete"]), metavar="[restore|delete]")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(scope: RequestScope, action: str | None, ids: tuple[str, ...], *, as_json: bool) -> None:
    """List what commands created under protected names such as .git, move it back or delete it.

    It was moved out of the project before the command's result was given. Another program may have created it while the
    command ran.
    """
    if action is None:
        _list(scope, as_json=as_json)
    elif not ids:
        raise click.UsageError(f"missing ID: `marid quarantine {action} ID`; `marid quarantine` lists the IDs")
    for id in ids:
        if action == "restore":
            print_note(f"restored: {quote_path(verbs.restore_item(scope, id).path)}")
        else:
            print_note(f"deleted: {quote_path(verbs.delete_item(scope, id).path)}")


def _list(scope: RequestScope, *, as_json: bool) -> None:
    items, notes = verbs.quarantined_items(scope)
    for note in notes:
        print_note(note)
    if as_json:
        print_line(json.dumps([item._asdict() for item in items], indent=2))
    elif not items:
        print_note("nothing is in quarantine")
    else:
        for item in items:
            moved = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(item.moved))
            print_line(f"{item.id}  {moved}  {quote_path(item.path)}")
