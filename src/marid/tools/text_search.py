"""Finding text in files."""

import posixpath
from collections.abc import Iterable, Iterator
from typing import Annotated, cast

from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.text.display import quote_path
from marid.text.line_search import (
    ExcerptLine,
    LinePattern,
    excerpt_groups,
    literal_pattern,
    parse_pattern,
    render_groups,
    try_literal_pattern,
)
from marid.toolkit.handles import FileRef, PathRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import check_at_least, count_text, read_bytes, read_text, with_path_hints
from marid.workspace.find.path_search import parse_path_pattern
from marid.workspace.find.text_search import FileHits, Grep, PathFilter, SearchedFile, TextSearch, iter_files

_MAX_HITS = 500
_MAX_CONTEXT = 100
_MAX_NAME_LENGTH = 1_000
_HERE = cast(PathRef, ".")  # parsed like a path that was given


@tool(family="files", effect=Effect.READ)
def grep_files(  # noqa: PLR0913 - the parameters are the document's
    pattern: Annotated[str, "a regular expression of Python's re, matched line by line; (?i) in front ignores case"],
    path: Annotated[PathRef, "a folder, searched with all below it, or a file"] = _HERE,
    file_pattern: Annotated[str | None, "a glob that files must match, such as *.py or src/**/*.ts"] = None,
    context_lines: Annotated[int, "how many lines to show before and after each match"] = 2,
    max_results: Annotated[int, "how many matching lines at most"] = 50,
    *,
    workers: Workers,
) -> ToolOutput:
    """Search the text of files for a regular expression.

    Shows `path:line: text` for a match and `path:line-text` for the lines around it, `--` between groups. Hidden and
    binary files, those over 16 MB and what ignore files and the built-in rules exclude are left out.
    """
    check_at_least(0, context_lines=context_lines)
    check_at_least(1, max_results=max_results)
    around = min(context_lines, _MAX_CONTEXT)
    wanted = None if file_pattern is None else parse_path_pattern(file_pattern, anywhere=True).matches
    grep = Grep(TextSearch(_compile_pattern(pattern, workers), max_results), workers)
    found = list(grep.run(_sources(path, wanted, hidden=False)))
    text = ("\n--\n" if around else "\n").join(_excerpt(one, around) for one in found)
    return _search_result(text, found, grep, "narrow the pattern, path or file_pattern, or raise max_results")


@tool(family="files", effect=Effect.READ)
def file_grep(
    path: Annotated[FileRef, "the file"],
    pattern: Annotated[str, "a regular expression of Python's re, matched line by line; (?i) in front ignores case"],
    context_before: Annotated[int, "how many lines to show before each match"] = 2,
    context_after: Annotated[int, "how many lines to show after each match"] = 2,
    *,
    workers: Workers,
) -> ToolOutput:
    """Search one text file for a regular expression.

    Shows `>N:text` for a match and ` N:text` for the lines around it, `--` between groups.
    """
    check_at_least(0, context_before=context_before, context_after=context_after)
    before, after = min(context_before, _MAX_CONTEXT), min(context_after, _MAX_CONTEXT)
    grep = Grep(TextSearch(_compile_pattern(pattern, workers), _MAX_HITS), workers)
    data, _ = read_text(path)
    found = list(grep.run([SearchedFile(path.raw, data)]))
    parts = [group for one in found for group in excerpt_groups(one.data, one.hits, before, after)]
    text = render_groups(
        parts, lambda one: f"{'>' if one.is_hit else ' '}{one.number}:{one.text}", separate=before + after > 0
    )
    return _search_result(text, found, grep, "narrow the pattern")


@tool(family="python", effect=Effect.READ)
def py_find_usages(
    path: Annotated[PathRef, "a Python file, or a folder that is searched with all below it"],
    name: Annotated[str, "the exact text to find, as a whole word; no regular expression"],
) -> ToolOutput:
    """Find the lines of Python files in which a name occurs as a whole word.

    Shows `path:line: text` for each. It is a search in text: comments and strings count too. For references by
    structure use find_references.
    """
    if not name.strip() or len(name) > _MAX_NAME_LENGTH:
        raise BadInput(f"name must have 1 to {_MAX_NAME_LENGTH:,} characters")
    grep = Grep(TextSearch(literal_pattern(name, word=True), _MAX_HITS))
    found = list(grep.run(_sources(path, _is_python, hidden=True)))
    text = "\n".join(_excerpt(one, 0) for one in found)
    return _search_result(text, found, grep, "name a folder or a file below")


def _is_python(path: str) -> bool:
    return path.endswith(".py")


def _compile_pattern(source: str, workers: Workers) -> LinePattern:
    return try_literal_pattern(source) or workers.run(parse_pattern, source)


def _sources(path: PathRef, wanted: PathFilter | None, *, hidden: bool) -> Iterator[SearchedFile]:
    """The files to search, by names that the caller may give back."""
    with with_path_hints(path):
        if not path.is_folder():
            yield SearchedFile(path.raw, read_bytes(path))
            return
    within = "" if posixpath.normpath(path.raw) == "." else f"{path.raw.rstrip('/')}/"
    yield from iter_files(path.walk(hidden=hidden), wanted, within)


def _excerpt(found: FileHits, around: int) -> str:
    shown = quote_path(found.path)

    def format_line(one: ExcerptLine) -> str:
        return f"{shown}:{one.number}{': ' if one.is_hit else '-'}{one.text}"

    return render_groups(list(excerpt_groups(found.data, found.hits, around, around)), format_line, separate=around > 0)


def _search_result(text: str, found: Iterable[FileHits], grep: Grep, advice: str) -> ToolOutput:
    """The result, with a last line that says if there is more."""
    hits = [len(one.hits) for one in found]
    values = {"matches": sum(hits), "files": len(hits), "truncated": not grep.is_complete}
    if grep.timed_out:
        text += f"\n(stopped: it took too long; {advice})"
    elif not grep.is_complete:
        text += f"\n(more than {count_text(sum(hits), 'matching line')}: {advice})"
    return ToolOutput(text=text.lstrip("\n") or "No matches", values=values)
