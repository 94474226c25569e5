"""What needs the user's permission: `marid approvals` answers questions, `marid allow` opens paths."""

import json
import os
import time

import click

from marid.app import allowed_paths
from marid.app import approvals as verbs
from marid.app.app import RequestScope
from marid.core.policy.approval import NO_LIMIT, Approval, ApprovalAnswer, StandingGrant
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.click_command import ScopedCommand
from marid.text.display import format_timestamp, quote_path

_EXAMPLES = (
    ("marid approvals", "show every pending approval in full"),
    ("marid approvals yes ID", "approve (the beginning of the ID is enough)"),
    ("marid approvals no ID", "decline"),
    ("marid approvals no ID --reason TEXT", "decline, and tell the model why"),
    ("marid approvals always ID", "approve, and do not ask again for what the question says"),
    ("marid approvals grants", "list what was approved with always"),
    ("marid approvals grants revoke ID", "ask again from now on"),
)
_GONE = " (the process that asked has ended; the answer counts if the call is made again within 10 minutes)"
_ANSWER = click.Choice([*(one.value for one in ApprovalAnswer), "grants"])


@click.command(cls=ScopedCommand, examples=_EXAMPLES)
@click.argument("answer", required=False, type=_ANSWER, metavar="[yes|no|always|grants]")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--reason", metavar="TEXT", default="", help="With no: a reason, which the model reads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def approvals(scope: RequestScope, answer: str | None, ids: tuple[str, ...], reason: str, *, as_json: bool) -> None:
    """List the approvals that tools of all marid processes wait for, or answer them."""
    if reason and answer != ApprovalAnswer.NO.value:
        raise click.UsageError("--reason needs `marid approvals no ID`")
    if answer == "grants":
        _grants(scope, ids, as_json=as_json)
    elif answer is None:
        _list(verbs.pending_approvals(scope), as_json=as_json)
    elif not ids:
        raise click.UsageError(f"missing ID: `marid approvals {answer} ID`; `marid approvals` lists the IDs")
    else:
        for number in ids:
            done = verbs.answer_approval(scope, number, ApprovalAnswer(answer), reason)
            print_note(f"{done.question.tool}: {answer}{_GONE if done.gone else ''}")


def _grants(scope: RequestScope, words: tuple[str, ...], *, as_json: bool) -> None:
    """List the grants, or revoke those that the words name."""
    if words:
        if words[0] != "revoke" or not words[1:]:
            raise click.UsageError("to revoke a grant, use `marid approvals grants revoke ID`")
        for number in words[1:]:
            print_note(f"revoked: {_grant_text(verbs.revoke_grant(scope, number))}")
        return
    found = verbs.list_grants(scope)
    if as_json:
        print_line(json.dumps([{"id": one.id, **one._asdict()} for one in found], indent=2))
    elif not found:
        print_note("no grants")
    else:
        for one in found:
            print_line(f"{one.id}  {format_timestamp(one.made * 1000)}  {_grant_text(one)}")


def _grant_text(grant: StandingGrant) -> str:
    return f"{grant.covers or grant.grant} ({grant.scope.replace(':', ' ', 1)})"


def _list(found: list[Approval], *, as_json: bool) -> None:
    if as_json:
        print_line(json.dumps([_row(one) for one in found], indent=2))
        return
    if not found:
        print_note("no pending approvals")
    now = time.time()
    for one in found:
        question = one.question
        left = "" if question.expires == NO_LIMIT else f", {max(0, round(question.expires - now))} s left"
        who = question.caller.conversation or question.caller.face
        print_line(f"{question.id}  {question.tool}, asked by {who}{left}{_GONE if one.gone else ''}")
        print_line("\n".join(f"    {line}" for line in question.text.rstrip("\n").split("\n")))
        if question.always:
            print_line(f"    (always: {question.covers})")


def _row(one: Approval) -> dict[str, object]:
    question = one.question
    first = {"id": question.id, "kind": question.kind.value, "tool": question.tool, "caller": question.caller._asdict()}
    expires = None if question.expires == NO_LIMIT else question.expires
    rest = {name: getattr(question, name) for name in ("text", "hash", "created")}
    return {**first, **rest, "expires": expires, "always": question.covers if question.always else "", "gone": one.gone}


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
