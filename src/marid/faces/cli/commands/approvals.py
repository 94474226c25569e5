"""`marid approvals`: list and answer pending approvals."""

import json
import time

import click

from marid.app import approvals
from marid.app.app import RequestScope
from marid.core.policy.approval import Approval, ApprovalAnswer
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.view.console import print_line, print_note

_EXAMPLES = (
    ("marid approvals", "show every pending approval in full"),
    ("marid approvals yes ID", "approve (the beginning of the ID is enough)"),
    ("marid approvals no ID", "decline"),
    ("marid approvals always ID", "approve, and do not ask again for the same"),
)


@click.command("approvals", cls=HelpCommand, examples=_EXAMPLES)
@click.argument(
    "answer", required=False, type=click.Choice([one.value for one in ApprovalAnswer]), metavar="[yes|no|always]"
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, answer: str | None, ids: tuple[str, ...], *, as_json: bool) -> None:
    """List the approvals that tools of all marid processes wait for, or answer them."""
    scope: RequestScope = ctx.obj()
    if answer is None:
        _list(approvals.pending_approvals(scope), as_json=as_json)
        return
    if not ids:
        raise click.UsageError(f"missing ID: `marid approvals {answer} ID`; `marid approvals` lists the IDs", ctx)
    for number in ids:
        done = approvals.answer_approval(scope, number, ApprovalAnswer(answer))
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
    return {
        "id": question.id,
        "kind": question.kind.value,
        "tool": question.tool,
        "caller": question.caller._asdict(),
        "text": question.text,
        "hash": question.hash,
        "created": question.created,
        "expires": question.expires,
    }
