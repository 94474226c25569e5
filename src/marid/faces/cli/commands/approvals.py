"""What needs the user's permission: `marid approvals` answers questions, `marid allow` opens paths."""

import json
import os
import time

import click

from marid.app import allowed_paths
from marid.app import approvals as verbs
from marid.app.app import RequestScope
from marid.core.policy.approval import Approval, ApprovalAnswer
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.click_command import ScopedCommand
from marid.text.display import quote_path

_EXAMPLES = (
    ("marid approvals", "show every pending approval in full"),
    ("marid approvals yes ID", "approve (the beginning of the ID is enough)"),
    ("marid approvals no ID", "decline"),
    ("marid approvals always ID", "approve, and do not ask again for the same"),
)
_ANSWER = click.Choice([one.value for one in ApprovalAnswer])


@click.command(cls=ScopedCommand, examples=_EXAMPLES)
@click.argument("answer", required=False, type=_ANSWER, metavar="[yes|no|always]")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def approvals(scope: RequestScope, answer: str | None, ids: tuple[str, ...], *, as_json: bool) -> None:
    """List the approvals that tools of all marid processes wait for, or answer them."""
    if answer is None:
        _list(verbs.pending_approvals(scope), as_json=as_json)
    elif not ids:
        raise click.UsageError(f"missing ID: `marid approvals {answer} ID`; `marid approvals` lists the IDs")
    for number in ids:
        done = verbs.answer_approval(scope, number, ApprovalAnswer(answer))
        print_note(f"{done.question.tool}: {answer}")


def _list(found: list[Approval], *, as_json: bool) -> None:
    if as_json:
        print_line(json.dumps([_row(one) for one in found], indent=2))
        return
    if not found:
        print_note("no pending approvals")
    now = time.time()
    for one in found:
        question = one.question
        left = max(0, round(question.expires - now))
        who = question.caller.conversation or question.caller.face
        print_line(f"{question.id}  {question.tool}, asked by {who}, {left} s left")
        print_line("\n".join(f"    {line}" for line in question.text.rstrip("\n").split("\n")))


def _row(one: Approval) -> dict[str, object]:
    question = one.question
    first = {"id": question.id, "kind": question.kind.value, "tool": question.tool, "caller": question.caller._asdict()}
    return {**first, **{name: getattr(question, name) for name in ("text", "hash", "created", "expires")}}


@click.command(cls=ScopedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--remove", is_flag=True, help="Remove PATH from the list.")
def allow(scope: RequestScope, paths: tuple[str, ...], *, remove: bool) -> None:
    """Let tools use PATH outside of the project from now on: a file, or a folder and everything in it.

    Without PATH, list what is allowed. The list is `files` in your config.toml.
    """
    allowed = [] if paths else [*allowed_paths.list_allowed(scope)]
    for path in allowed:
        print_line(quote_path(path))
    if not paths and not allowed:
        print_note("nothing outside of the project is allowed; `marid allow PATH` adds a path")
    for path in paths:
        if remove:
            print_note(f"no longer allowed: {quote_path(allowed_paths.forget(scope, path))}")
        else:
            place = allowed_paths.allow(scope, path)
            print_note(f"allowed: {quote_path(place)}{'/' if os.path.isdir(place) else ''}")
