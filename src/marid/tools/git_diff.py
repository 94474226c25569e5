"""What changed, as git knows it."""

from dataclasses import replace
from typing import Annotated

from marid.core.errors import BadInput, MaridError, NotFound, Refused
from marid.core.policy.policy import Effect
from marid.ports.git import Git
from marid.text.display import quote_path
from marid.text.git_text import FileDiff, split_diff
from marid.toolkit.handles import PathRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.workspace.guard.api import GuardedPath

MAX_CHARACTERS = 200_000


@tool(family="analysis", effect=Effect.READ, timeout=60.0)
def get_git_diff(
    path: Annotated[PathRef, "file or folder; `.` is the whole project"],
    base_rev: Annotated[str, "revision to start from: a branch, a tag, a hash, HEAD~2"] = "HEAD",
    head_rev: Annotated[str, "revision to end at; empty: the files as they are now"] = "",
    *,
    git: Git,
) -> ToolOutput:
    """Show the git diff of a file or folder, by default all that is not committed yet.

    A unified diff with paths relative to the project. It has staged and unstaged changes, but no untracked files. A
    renamed file is shown as deleted and added; binary files are only named.
    """
    is_there = _exists(path)
    found = _compare(git, path, base_rev, head_rev)
    shown = [part for part in found if not _is_hidden(path.path, part.name)]
    values: dict[str, object] = {"files": [quote_path(part.name) for part in shown], "truncated": False}
    if not shown and not is_there:
        raise NotFound(f"'{quote_path(path.raw)}' is not there, and these revisions do not differ in it")
    if not shown:
        return ToolOutput(text="No differences.", values=values)
    text = b"".join(part.data for part in shown).decode("utf-8", "replace")
    if len(text) > MAX_CHARACTERS:
        kept = text[: text.rfind("\n", 0, MAX_CHARACTERS) + 1]
        values["truncated"] = True
        more = f"{len(text) - len(kept):,} more characters; {len(shown)} files differ in all"
        text = f"{kept}(cut: {more}; ask for one file or folder)"
    return ToolOutput(text=text, values=values)


def _compare(git: Git, path: PathRef, base: str, head: str) -> list[FileDiff]:
    try:
        return split_diff(git.compare(path.path.root.path, path.name, base, head or None))
    except NotFound as cause:
        raise BadInput(f"'{quote_path(path.raw)}' is in no git repository") from cause
    except Refused as cause:
        # Without the paths that it names, which may be outside the roots.
        reason = "it belongs to another user, or borrows objects from elsewhere"
        raise Refused(f"the git repository of '{quote_path(path.raw)}' is not trusted: {reason}") from cause


def _exists(path: PathRef) -> bool:
    """Also judges the path: what leads outside is refused here, before git runs."""
    try:
        path.is_folder()
    except NotFound:
        return False
    return True


def _is_hidden(asked: GuardedPath, name: str) -> bool:
    """Whether no tool may read the file, by its name or because it is another name of such a file."""
    place = replace(asked, name=name, given=name)
    try:
        place.root.check_allowed(name)
    except Refused:
        return True
    try:
        return place.root.protected_files.is_protected_link(place.stat())
    except MaridError:  # it is not there any more, or a link whose own text is all that git shows
        return False
