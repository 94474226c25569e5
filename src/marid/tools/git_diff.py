"""What changed, as git knows it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from marid.core.errors import BadInput, MaridError, NotFound, Refused, Unavailable
from marid.core.policy import Effect
from marid.ports.git import Git
from marid.text.diffs import Part, parts
from marid.text.visible import shown_path
from marid.toolkit.handles import PathRef
from marid.toolkit.outcome import Done
from marid.toolkit.spec import ToolSpec, tool
from marid.workspace.guard import Place

MOST_TEXT = 200_000
MOST_BYTES = 64 << 20


@tool(family="analysis", effect=Effect.READ, seconds=60.0)
def get_git_diff(
    path: Annotated[PathRef, "file or folder; `.` is the whole project"],
    base_rev: Annotated[str, "revision to start from: a branch, a tag, a hash, HEAD~2"] = "HEAD",
    head_rev: Annotated[str, "revision to end at; empty: the files as they are now"] = "",
    *,
    git: Git,
) -> Done:
    """Show the git diff of a file or folder, by default all that is not committed yet.

    A unified diff with paths relative to the project. Staged and unstaged changes are both in it, untracked files are
    not (git knows nothing of them), a renamed file is one that goes and one that comes, binary files are only named.
    """
    is_there = _is_there(path)
    found = _compared(git, path, base_rev, head_rev)
    shown = [part for part in found if not _is_hidden(path.place, part.name)]
    if not head_rev:
        _check_seen(path.place, shown)
    values: dict[str, object] = {"files": [shown_path(part.name) for part in shown], "truncated": False}
    if not shown and not is_there:
        raise NotFound(f"'{shown_path(path.given)}' is not there, and these revisions do not differ in it")
    if not shown:
        return Done(text="No differences.", values=values)
    text = b"".join(part.data for part in shown).decode("utf-8", "replace")
    if len(text) > MOST_TEXT:
        kept = text[: text.rfind("\n", 0, MOST_TEXT) + 1]
        values["truncated"] = True
        text = kept + _note(len(text) - len(kept), len(shown))
    return Done(text=text, values=values)


def _compared(git: Git, path: PathRef, base: str, head: str) -> list[Part]:
    try:
        return parts(git.compare(path.place.tree.path, path.name, base, head or None))
    except NotFound as cause:
        raise BadInput(f"'{shown_path(path.given)}' is in no git repository") from cause
    except Refused as cause:
        # What it names lies where the caller may have no business.
        words = "it is someone else's, or borrows from elsewhere"
        raise Refused(f"the git repository of '{shown_path(path.given)}' is not trusted: {words}") from cause


def _is_there(path: PathRef) -> bool:
    """Also judges the path: what leads outside is refused here, before git hears of it."""
    try:
        path.is_folder()
    except NotFound:
        return False
    return True


def _is_hidden(asked: Place, name: str) -> bool:
    """Whether no tool may read the file, by its name or because it is another name of such a file."""
    place = replace(asked, name=name, given=name)
    try:
        place.tree.permit(name)
    except Refused:
        return True
    try:
        return place.tree.withheld.same_file(place.stat())
    except MaridError:  # it is not there any more, or a link whose own text is all that git shows
        return False


def _check_seen(asked: Place, shown: list[Part]) -> None:
    """Raise Unavailable for a file that is not what git has seen: it follows a link that takes a folder's place."""
    for part in shown:
        lines = dict(part.shown())
        if lines and not _holds(replace(asked, name=part.name, given=part.name), lines):
            raise Unavailable(f"'{shown_path(part.name)}' was changed or moved while it was compared; try again")


def _holds(place: Place, lines: Mapping[int, bytes]) -> bool:
    """Whether a file has these lines, by number; git may have left out what ends them."""
    try:
        found = place.read(MOST_BYTES).split(b"\n")
    except (NotFound, Refused, BadInput):
        return False
    return max(lines) <= len(found) and all(
        found[number - 1].rstrip(b"\r") == line.rstrip(b"\r") for number, line in lines.items()
    )


def _note(more: int, files: int) -> str:
    return f"(cut: {more:,} more characters; {files} files differ in all; ask for one file or folder)"


TOOLS: tuple[ToolSpec, ...] = (get_git_diff,)
