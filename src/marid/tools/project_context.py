"""Project context: the source files of a folder as one text."""

from typing import Annotated

from marid.assembly.context_reader import ContextReader
from marid.core.context import ContextView, FileSelection, OutputFormat, RenderOptions
from marid.core.errors import BadInput, Exhausted
from marid.core.policy.policy import Effect
from marid.text.display import quote_path
from marid.toolkit.handles import FolderRef
from marid.toolkit.outcome import ResultLimit, ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import check_at_least

_RULES = (
    "Rules in the syntax of .contextfiles, stronger than every file of rules: '!*.log' leaves files out, "
    "'docs/*.md' or 'vendor/' brings in what would be left out. To read only a part, use only or targets."
)
_BUDGET = (
    "Most tokens of the result. The most useful files are given in full, others as an outline of their definitions "
    "or only by name; too few tokens even for the names is an error."
)
_TARGETS = (
    "Files or folders below path to read; without any, all of it. Paths in the result and in rules stay relative to "
    "path."
)
_ONLY = "Patterns such as '*.py' or 'src/'. Of what the rules select, keep only files that match one."
_LIST_ONLY = "Give the paths of the selected files, one a line, instead of their contents."
_HINT = "In a call, a --rule is an item of 'rules', --list-only is 'list_only' and --budget is 'budget'."


@tool(family="context", effect=Effect.READ, timeout=300.0)
def read_context(  # noqa: PLR0913, PLR0917 - the parameters are the document's
    path: Annotated[FolderRef, "Absolute path of the folder to read."],
    rules: Annotated[tuple[str, ...], _RULES] = (),
    list_only: Annotated[bool, _LIST_ONLY] = False,  # noqa: FBT002
    format: Annotated[OutputFormat, "How the files are written."] = OutputFormat.TEXT,
    budget: Annotated[int | None, _BUDGET] = None,
    targets: Annotated[tuple[str, ...], _TARGETS] = (),
    only: Annotated[tuple[str, ...], _ONLY] = (),
    *,
    contexts: ContextReader,
    limit: ResultLimit | None = None,
) -> ToolOutput:
    """Read the source files of a folder as one text, each under a header with its path, size and time of change.

    What .gitignore and the project's .contextfiles leave out is left out, and so are build products, logs, lock files,
    binary files and links; secrets are masked. Call it with list_only first to see what there is, then choose with
    targets or rules, or give a budget to have as much as fits.
    """
    if not path.raw.startswith("/"):
        shown = quote_path(path.raw)
        raise BadInput(f"'{shown}' is not an absolute path: give the whole path of a folder, starting with '/'")
    if budget is not None:
        check_at_least(1, budget=budget)
        if list_only:
            raise BadInput("'budget' is about the contents of files: leave it out, or leave out 'list_only'")
    if not path.path.is_folder():
        raise BadInput(f"'{quote_path(path.raw)}' is a file: give its folder as 'path' and the file in 'targets'")
    view = ContextView.LIST if list_only else ContextView.CONTENT
    try:
        found = contexts.read(
            path.path,
            FileSelection(targets=targets, rules=rules, only=only),
            RenderOptions(form=format, views=(view,), budget=budget),
            limit.max_bytes if limit is not None else None,
        )
    except Exhausted as error:
        raise Exhausted(f"{error}\n{_HINT}") from error
    return ToolOutput(text=found.text, values={"files": found.files}, notices=found.notices)
