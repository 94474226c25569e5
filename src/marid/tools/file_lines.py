"""Looking at some lines of a file, and changing them."""

from typing import Annotated, Literal, TypeVar

from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.text.edit.text_edits import (
    check_line_range,
    check_start_line,
    end_last_line,
    insert_lines,
    replace_lines,
    split_lines,
    substitute_first,
    usual_line_ending,
)
from marid.toolkit.handles import FileRef, TargetRef
from marid.toolkit.outcome import EditPlan, ToolOutput
from marid.toolkit.spec import Alias, tool
from marid.tools.text_files import FileDraft, check_at_least, count_text, with_path_hints
from marid.workspace.line_reader import LineSpan, open_lines

T = TypeVar("T")
Operation = Literal["replace_lines", "insert_before", "insert_after", "delete_lines", "replace_string"]
_VERBS = {
    "replace_lines": "Replaced",
    "insert_before": "Inserted before",
    "insert_after": "Inserted after",
    "delete_lines": "Deleted",
}


@tool(
    family="files",
    effect=Effect.READ,
    aliases=(Alias(name="file_lines", renames=(("start", "start_line"), ("end", "end_line"))),),
)
def get_file_slice(
    path: Annotated[FileRef, "the file"],
    start_line: Annotated[int, "first line, from 1"],
    end_line: Annotated[int, "last line, included; beyond the end means: to the end"],
) -> ToolOutput:
    """Read some lines of a text file, as they are.

    Works on files of any size. A start_line beyond the end is an error that says how many lines there are.
    """
    check_line_range(start_line, end_line)
    with with_path_hints(path), open_lines(path.path) as lines:
        return _slice_result(lines.read_slice(start_line, end_line))


@tool(family="files", effect=Effect.READ)
def file_head(path: Annotated[FileRef, "the file"], lines: Annotated[int, "how many"] = 50) -> ToolOutput:
    """Read the first lines of a text file of any size."""
    check_at_least(1, lines=lines)
    with with_path_hints(path), open_lines(path.path) as opened:
        return _slice_result(opened.read_slice(1, lines))


@tool(family="files", effect=Effect.READ)
def file_tail(path: Annotated[FileRef, "the file"], lines: Annotated[int, "how many"] = 50) -> ToolOutput:
    """Read the last lines of a text file of any size."""
    check_at_least(1, lines=lines)
    with with_path_hints(path), open_lines(path.path) as opened:
        return _slice_result(opened.read_tail(lines))


def _slice_result(span: LineSpan) -> ToolOutput:
    return ToolOutput(
        text=span.text, values={"start_line": span.start, "end_line": span.end, "total_lines": span.total}
    )


@tool(family="files", effect=Effect.WRITE)
def set_file_slice(
    path: Annotated[TargetRef, "the file"],
    start_line: Annotated[int, "first line to replace, from 1"],
    end_line: Annotated[int, "last line to replace, included; beyond the end means: to the end"],
    new_content: Annotated[str, "the lines to put there; empty deletes the old ones"],
) -> EditPlan:
    """Replace some lines of a text file.

    A line end that is missing at the end of new_content is supplied, and its lines get the line ends of the file.
    A start_line beyond the end is an error.
    """
    draft = FileDraft(path)
    total = len(split_lines(draft.text))
    after = replace_lines(draft.text, start_line, end_line, new_content)
    return _plan(draft, after, f"Replaced lines {start_line}-{min(end_line, total)}")


@tool(family="files", effect=Effect.WRITE)
def file_edit(  # noqa: PLR0913 - the parameters are the document's
    path: Annotated[TargetRef, "the file"],
    operation: Annotated[Operation, "what to do"],
    *,
    line_start: Annotated[int | None, "first line, from 1; for all operations on lines"] = None,
    line_end: Annotated[int | None, "last line, included; default: line_start"] = None,
    content: Annotated[str | None, "the lines to insert or to put there"] = None,
    find: Annotated[str | None, "for replace_string: the text whose first occurrence is replaced"] = None,
    replace: Annotated[str | None, "for replace_string: the text to put there"] = None,
) -> EditPlan:
    """Change lines of a text file, or replace the first occurrence of a text in it.

    replace_lines and delete_lines take line_start and line_end, insert_before and insert_after take line_start;
    afterwards the file ends with a line end. replace_string takes find and replace.
    """
    draft = FileDraft(path)
    if operation == "replace_string":
        made = substitute_first(draft.text, _require(find, "find", operation), _require(replace, "replace", operation))
        return _plan(draft, made.text, f"Replaced line {made.lines[0]}")
    start = _require(line_start, "line_start", operation)
    end = start if line_end is None else line_end
    check_line_range(start, end, ("line_start", "line_end"))
    check_start_line(end, len(split_lines(draft.text)), "line_start" if end == start else "line_end")
    after = _change_lines(draft.text, operation, (start, end), content)
    message = f"{_VERBS[operation]} line {start}" if start == end else f"{_VERBS[operation]} lines {start}-{end}"
    return _plan(draft, end_last_line(after, usual_line_ending(draft.text)), message)


def _change_lines(text: str, operation: str, span: tuple[int, int], content: str | None) -> str:
    if operation == "delete_lines":
        return replace_lines(text, *span, "")
    new = _require(content, "content", operation)
    if operation == "replace_lines":
        return replace_lines(text, *span, new)
    return insert_lines(text, span[0] + (operation == "insert_after"), new)


def _require(value: T | None, name: str, operation: str) -> T:
    if value is None:
        raise BadInput(f"{operation} needs {name}")
    return value


def _plan(draft: FileDraft, after: str, message: str) -> EditPlan:
    if after == draft.text:
        raise BadInput("nothing would change: the lines are the same already")
    total = len(split_lines(after))
    return draft.plan(
        after, f"{message} of {draft.display_path}, which has {count_text(total, 'line')} now", {"total_lines": total}
    )
