"""The issues of a Beads workspace."""

from typing import Annotated

from marid.core.errors import Exhausted
from marid.core.policy import Effect
from marid.ports.beads import Beads, Command, Draft, Listing
from marid.text.visible import shown_text
from marid.toolkit.ground import Ground
from marid.toolkit.outcome import Change, Done, Edit, Ran, Run
from marid.toolkit.spec import ToolSpec, tool

MOST_ROWS = 1000
SECONDS = 30.0


@tool(family="beads", effect=Effect.READ)
def bd_list(*, beads: Beads) -> Done:
    """List all beads (issues) of the project's Beads workspace, closed ones too.

    One row for each: `ID: <id>, Status: <status>, Title: <title>`.
    """
    return _rows(beads.listed(), "The workspace has no beads.")


@tool(family="beads", effect=Effect.READ)
def bd_ready(*, beads: Beads) -> Done:
    """List the beads that can be worked on now: open, and held back by nothing.

    The most urgent come first. One row for each: `ID: <id>, Status: <status>, Title: <title>`.
    """
    return _rows(beads.ready(), "No bead is ready to be worked on.")


@tool(family="beads", effect=Effect.WRITE)
def bd_create(
    title: Annotated[str, "one line, at most 500 characters"],
    description: Annotated[str, "what is to be done, and why"] = "",
    *,
    beads: Beads,
    ground: Ground,
) -> Edit | Run:
    """Create a bead (an open issue) in the project's Beads workspace; the result names its id."""
    return _plan(beads.create(title, description), ground)


@tool(family="beads", effect=Effect.WRITE)
def bd_update(
    bead_id: Annotated[str, "as bd_list names it"],
    status: Annotated[str, "open, in_progress, blocked, deferred, closed, or one that the workspace defines"],
    *,
    beads: Beads,
    ground: Ground,
) -> Edit | Run:
    """Change the status of a bead."""
    return _plan(beads.update(bead_id, status), ground)


def _rows(listing: Listing, nothing: str) -> Done:
    rows = [
        f"ID: {shown_text(bead.id)}, Status: {shown_text(bead.status)}, Title: {shown_text(bead.title)}"
        for bead in listing.beads[:MOST_ROWS]
    ]
    more = len(listing.beads) - len(rows)
    notes = [f"({more:,} more are not shown; bd_ready lists fewer)"] if more else []
    notes += [listing.remark] if listing.remark else []
    return Done(
        text="\n".join([*(rows or [nothing]), *notes]), values={"count": len(listing.beads), "truncated": more > 0}
    )


def _plan(draft: Draft, ground: Ground) -> Edit | Run:
    if isinstance(draft, Command):
        return _run(draft, ground)
    change = Change(place=ground.place(draft.name, write=True), before=draft.before, after=draft.after)
    return Edit(changes=(change,), text=draft.text)


def _run(command: Command, ground: Ground) -> Run:
    def finish(ran: Ran) -> Done:
        if ran.timed_out:
            raise Exhausted(f"`bd` took longer than {SECONDS:g} s")
        return Done(text=command.report(ran.status, ran.out, ran.err))

    return Run(argv=command.argv, shown=command.shown, cwd=ground.place("."), seconds=SECONDS, finish=finish)


TOOLS: tuple[ToolSpec, ...] = (bd_list, bd_create, bd_update, bd_ready)
