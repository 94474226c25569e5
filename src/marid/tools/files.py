"""Reading and changing whole files."""

from typing import Annotated

from marid.core.errors import NotFound
from marid.core.policy.policy import Effect
from marid.text.decode import encode_text, line_count
from marid.text.display import quote_path
from marid.text.edit.text_edits import substitute
from marid.toolkit.handles import FileRef, TargetRef
from marid.toolkit.outcome import EditPlan, ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import FileDraft, check_size, count_text, read_text


@tool(family="files", effect=Effect.READ)
def read_file(path: Annotated[FileRef, "the file"]) -> ToolOutput:
    """Read a whole text file.

    A byte-order mark decides the encoding, else UTF-8, else CP1252; the text comes without the mark and as it is.
    Binary files are errors. For files of many megabytes use get_file_slice, file_head, file_tail or file_grep.
    """
    data, document = read_text(path)
    values = {"bytes": len(data), "lines": line_count(document.text.encode()), "encoding": document.codec}
    return ToolOutput(text=document.text, values=values)


@tool(family="files", effect=Effect.WRITE)
def write_file(
    path: Annotated[TargetRef, "the file; missing folders are made"],
    content: Annotated[str, "the whole new text, written as UTF-8 and otherwise as it is"],
) -> EditPlan | ToolOutput:
    """Write a whole text file, new or in place of the old one.

    To change part of a file use edit_file or set_file_slice.
    """
    after = encode_text(content)
    check_size(after)
    try:
        before = path.read()
    except NotFound:
        before = None
    shown = quote_path(path.raw)
    values = {"bytes": len(after), "lines": line_count(after), "created": before is None}
    if before == after:
        return ToolOutput(text=f"{shown} has this content already", values=values)
    verb = "Created" if before is None else "Wrote"
    message = f"{verb} {shown}: {count_text(line_count(after), 'line')}, {count_text(len(after), 'byte')}"
    return EditPlan(changes=(path.change(before, after),), text=message, values=values)


@tool(family="files", effect=Effect.WRITE)
def edit_file(
    path: Annotated[TargetRef, "the file"],
    old_string: Annotated[str, "the exact text to replace, indentation included"],
    new_string: Annotated[str, "the text to put there; may be empty"],
    replace_all: Annotated[bool, "replace every occurrence, not just the only one"] = False,  # noqa: FBT002
) -> EditPlan:
    """Replace an exact text in a file.

    old_string must occur exactly once, unless replace_all is set; it is an error if it is empty, absent or the same as
    new_string. A line end in it matches \\n and \\r\\n alike, and new lines get the line ends of the file. Everything
    else in the file keeps its bytes; quotation marks and white space are never adapted.
    """
    draft = FileDraft(path)
    made = substitute(draft.text, old_string, new_string, every=replace_all)
    lines = ", ".join(map(str, made.lines[:10])) + (", ..." if len(made.lines) > 10 else "")
    word = "line" if len(made.lines) == 1 else "lines"
    message = f"Replaced {count_text(len(made.lines), 'occurrence')} in {draft.display_path} ({word} {lines})"
    return draft.plan(made.text, message, {"replaced": len(made.lines), "lines": made.lines[:100]})
