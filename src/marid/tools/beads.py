"""The issues of a Beads workspace."""

from typing import Annotated

from marid.core.errors import Exhausted
from marid.core.policy.policy import Effect
from marid.ports.beads import NO_WORKSPACE, BeadListing, BeadsCommand, BeadsPlan, BeadsWorkspace
from marid.text.display import escape_text
from marid.toolkit.handles import PathResolver
from marid.toolkit.outcome import CommandPlan, EditPlan, PlannedChange, ProcessResult, ToolOutput
from marid.toolkit.spec import tool

MAX_ROWS = 1000
TIMEOUT = 30.0


@tool(family="beads", effect=Effect.READ, unavailable=NO_WORKSPACE)
def bd_list(*, beads: BeadsWorkspace) -> ToolOutput:
    """List all beads (issues) of the project's Beads workspace, closed ones too.

    One row for each: `ID: <id>, Status: <status>, Title: <title>`.
    """
    return _list_beads(beads.list_all(), "The workspace has no beads.")


@tool(family="beads", effect=Effect.READ, unavailable=NO_WORKSPACE)
def bd_ready(*, beads: BeadsWorkspace) -> ToolOutput:
    """List the beads that can be worked on now: open, and held back by nothing.

    The most urgent come first. One row for each: `ID: <id>, Status: <status>, Title: <title>`.
    """
    return _list_beads(beads.list_ready(), "No bead is ready to be worked on.")


@tool(family="beads", effect=Effect.WRITE, unavailable=NO_WORKSPACE)
def bd_create(
    title: Annotated[str, "one line, at most 500 characters"],
    description: Annotated[str, "what is to be done, and why"] = "",
    *,
    beads: BeadsWorkspace,
    paths: PathResolver,
) -> EditPlan | CommandPlan:
    """Create a bead (an open issue) in the project's Beads workspace; the result names its id."""
    return _plan(beads.create(title, description), paths)


@tool(family="beads", effect=Effect.WRITE, unavailable=NO_WORKSPACE)
def bd_update(
    bead_id: Annotated[str, "as bd_list names it"],
    status: Annotated[str, "open, in_progress, blocked, deferred, closed, or one that the workspace defines"],
    *,
    beads: BeadsWorkspace,
    paths: PathResolver,
) -> EditPlan | CommandPlan:
    """Change the status of a bead."""
    return _plan(beads.update(bead_id, status), paths)


def _list_beads(listing: BeadListing, nothing: str) -> ToolOutput:
    rows = [
        f"ID: {escape_text(bead.id)}, Status: {escape_text(bead.status)}, Title: {escape_text(bead.title)}"
        for bead in listing.beads[:MAX_ROWS]
    ]
    more = len(listing.beads) - len(rows)
    notes = [f"({more:,} more are not shown; bd_ready lists fewer)"] if more else []
    notes += [listing.remark] if listing.remark else []
    return ToolOutput(
        text="\n".join([*(rows or [nothing]), *notes]), values={"count": len(listing.beads), "truncated": more > 0}
    )


def _plan(draft: BeadsPlan, paths: PathResolver) -> EditPlan | CommandPlan:
    if isinstance(draft, BeadsCommand):
        return _plan_run(draft, paths)
    change = PlannedChange(path=paths.resolve(draft.name, write=True), before=draft.before, after=draft.after)
    return EditPlan(changes=(change,), text=draft.text)


def _plan_run(command: BeadsCommand, paths: PathResolver) -> CommandPlan:
    def finish(ran: ProcessResult) -> ToolOutput:
        if ran.timed_out:
            raise Exhausted(f"`bd` took longer than {TIMEOUT:g} s")
        return ToolOutput(text=command.report(ran.status, ran.out, ran.err))

    return CommandPlan(argv=command.argv, display=command.shown, cwd=paths.resolve("."), timeout=TIMEOUT, finish=finish)
