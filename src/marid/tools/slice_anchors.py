"""Slices that are found again after a file has changed."""

import json
from typing import Annotated, Any, cast

from marid.core.errors import BadInput, NotFound
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.text.decode import to_utf8
from marid.text.display import quote_path
from marid.text.edit.text_anchors import TextAnchor, anchor_lines, locate_anchor
from marid.toolkit.handles import FileRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import read_bytes

_ANCHOR = "what create_anchor returned: the JSON text, or the object"


@tool(family="code", effect=Effect.READ)
def create_anchor(
    path: FileRef,
    start_line: Annotated[int, "first line, from 1"],
    end_line: Annotated[int, "last line, inclusive"],
    *,
    workers: Workers,
) -> ToolOutput:
    """Remember some lines of a text file, to find them again after the file has changed.

    Returns JSON: keep it, and give it to resolve_anchor later. It holds the lines at both ends of the slice.
    """
    text = _read_text(path)
    try:
        made = workers.run(anchor_lines, text, start_line, end_line)
    except BadInput as error:
        raise BadInput(f"{quote_path(path.raw)}: {error}") from error
    anchor = made.to_dict()
    return ToolOutput(text=json.dumps(anchor, ensure_ascii=False), values={"anchor": anchor})


@tool(family="code", effect=Effect.READ)
def resolve_anchor(path: FileRef, anchor: Annotated[dict[str, Any] | str, _ANCHOR], *, workers: Workers) -> ToolOutput:
    """Find lines that create_anchor remembered: where they are now, and their text.

    They are found if lines moved around them, and if a few of them changed. It is an error if they are gone, or if they
    match more than one place: then search for them again.
    """
    text = _read_text(path)
    place = workers.run(locate_anchor, text, _parse_anchor(anchor))
    if place is None:
        raise NotFound(
            f"{quote_path(path.raw)}: the lines are gone, or match more than one place: search for them again"
        )
    start, end = place
    lines = text.split("\n")[start - 1 : end]
    return ToolOutput(text=f"Lines {start}-{end}:\n" + "\n".join(lines), values={"start_line": start, "end_line": end})


def _read_text(path: FileRef) -> str:
    found = to_utf8(read_bytes(path))
    if found is None:
        raise BadInput(f"{quote_path(path.raw)} is a binary file: it has no lines")
    return found[0].decode()


def _parse_anchor(given: dict[str, Any] | str) -> TextAnchor:
    """Raises: BadInput for what create_anchor did not make."""
    if isinstance(given, str):
        try:
            given = cast("dict[str, Any]", json.loads(given))
        except (json.JSONDecodeError, RecursionError) as error:
            raise BadInput(f"the anchor is not JSON: {error}") from error
    if not isinstance(given, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput("an anchor is a JSON object, as create_anchor returns it")
    return TextAnchor.from_dict(given)
