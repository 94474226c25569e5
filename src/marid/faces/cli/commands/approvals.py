"""`marid approvals`: the questions that wait for a person, and their answers."""

import json
import time

import click

from marid.app import approvals
from marid.app.app import App
from marid.core.policy.approval import Approval, ApprovalAnswer
from marid.faces.cli.view.console import print_line, print_note

_HELP = """List the questions that wait for your answer, of every process of this home.

    marid approvals               what is asked, in full
    marid approvals yes ID        let it happen (the beginning of the id is enough)
    marid approvals no ID         refuse it
    marid approvals always ID     let it happen, and do not ask again for the same
"""


@click.command("approvals", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument(
    "answer", required=False, type=click.Choice([one.value for one in ApprovalAnswer]), metavar="[yes|no|always]"
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="The list for a program.")
@click.pass_context
def command(ctx: click.Context, answer: str | None, ids: tuple[str, ...], *, as_json: bool) -> None:
    """Carry it out."""
    app: App = ctx.obj()
    if answer is None:
        _list(approvals.pending_approvals(app), as_json=as_json)
        return
    if not ids:
        raise click.UsageError(f"which one? `marid approvals {answer} ID`; `marid approvals` lists the ids", ctx)
    for number in ids:
        done = approvals.answer_approval(app, number, ApprovalAnswer(answer), face="cli")
        print_note(f"{done.question.tool}: {answer}")


command.help = _HELP.replace("\n\n    ", "\n\n\b\n    ", 1)


def _list(found: list[Approval], *, as_json: bool) -> None:
    if as_json:
        print_line(json.dumps([_row(one) for one in found], indent=2))
        return
    if not found:
        print_note("no question waits for an answer")
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
