"""Finding text in files."""

import posixpath
from collections.abc import Iterable, Iterator
from typing import Annotated, cast

from marid.core.errors import BadInput
from marid.core.policy import Effect
from marid.ports.workers import Workers
from marid.text.excerpts import Shown, groups, rendered
from marid.text.patterns import Pattern, literal_pattern, plain_pattern, read_pattern
from marid.text.visible import shown_path
from marid.toolkit.handles import FileRef, PathRef
from marid.toolkit.outcome import Done
from marid.toolkit.spec import ToolSpec, tool
from marid.tools.texts import at_least, counted, helped, read_bytes, read_text
from marid.workspace.grep import Found, Grep, Search, Source, Wanted, sources
from marid.workspace.pathglob import parse_path_pattern

_MOST_HITS = 500
_MOST_CONTEXT = 100
_LONGEST_NAME = 1_000
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
) -> Done:
    """Search the text of files for a regular expression.

    Shows `path:line: text` for a match and `path:line-text` for the lines around it, `--` between groups. Hidden and
    binary files, those over 16 MB and what ignore files and the built-in rules exclude are left out.
    """
    at_least(0, context_lines=context_lines)
    at_least(1, max_results=max_results)
    around = min(context_lines, _MOST_CONTEXT)
    wanted = None if file_pattern is None else parse_path_pattern(file_pattern, anywhere=True).matches
    grep = Grep(Search(_pattern(pattern, workers), max_results), workers)
    found = list(grep.run(_sources(path, wanted, hidden=False)))
    text = ("\n--\n" if around else "\n").join(_excerpt(one, around) for one in found)
    return _counted(text, found, grep, "narrow the pattern, path or file_pattern, or raise max_results")


@tool(family="files", effect=Effect.READ)
def file_grep(
    path: Annotated[FileRef, "the file"],
    pattern: Annotated[str, "a regular expression of Python's re, matched line by line; (?i) in front ignores case"],
    context_before: Annotated[int, "how many lines to show before each match"] = 2,
    context_after: Annotated[int, "how many lines to show after each match"] = 2,
    *,
    workers: Workers,
) -> Done:
    """Search one text file for a regular expression.

    Shows `>N:text` for a match and ` N:text` for the lines around it, `--` between groups.
    """
    at_least(0, context_before=context_before, context_after=context_after)
    before, after = min(context_before, _MOST_CONTEXT), min(context_after, _MOST_CONTEXT)
    grep = Grep(Search(_pattern(pattern, workers), _MOST_HITS), workers)
    data, _ = read_text(path)
    found = list(grep.run([Source(path.given, data)]))
    parts = [group for one in found for group in groups(one.data, one.hits, before, after)]
    text = rendered(parts, lambda one: f"{'>' if one.hit else ' '}{one.number}:{one.text}", apart=before + after > 0)
    return _counted(text, found, grep, "narrow the pattern")


@tool(family="python", effect=Effect.READ)
def py_find_usages(
    path: Annotated[PathRef, "a Python file, or a folder that is searched with all below it"],
    name: Annotated[str, "the exact text to find, as a whole word; no regular expression"],
) -> Done:
    """Find the lines of Python files in which a name occurs as a whole word.

    Shows `path:line: text` for each. It is a search in text: comments and strings count too. For references by
    structure use find_references.
    """
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise BadInput(f"name must have 1 to {_LONGEST_NAME:,} characters")
    grep = Grep(Search(literal_pattern(name, word=True), _MOST_HITS))
    found = list(grep.run(_sources(path, _is_python, hidden=True)))
    text = "\n".join(_excerpt(one, 0) for one in found)
    return _counted(text, found, grep, "name a folder or a file below")


def _is_python(path: str) -> bool:
    return path.endswith(".py")


def _pattern(source: str, workers: Workers) -> Pattern:
    return plain_pattern(source) or workers.run(read_pattern, source)


def _sources(path: PathRef, wanted: Wanted | None, *, hidden: bool) -> Iterator[Source]:
    """The files to search, by names that the caller may give back."""
    with helped(path):
        if not path.is_folder():
            yield Source(path.given, read_bytes(path))
            return
    within = "" if posixpath.normpath(path.given) == "." else f"{path.given.rstrip('/')}/"
    yield from sources(path.walk(hidden=hidden), wanted, within)


def _excerpt(found: Found, around: int) -> str:
    shown = shown_path(found.path)

    def line(one: Shown) -> str:
        return f"{shown}:{one.number}{': ' if one.hit else '-'}{one.text}"

    return rendered(list(groups(found.data, found.hits, around, around)), line, apart=around > 0)


def _counted(text: str, found: Iterable[Found], grep: Grep, advice: str) -> Done:
    """The result, with a last line that says if there is more."""
    hits = [len(one.hits) for one in found]
    values = {"matches": sum(hits), "files": len(hits), "truncated": not grep.complete}
    if grep.late:
        text += f"\n(stopped: it took too long; {advice})"
    elif not grep.complete:
        text += f"\n(more than {counted(sum(hits), 'matching line')}: {advice})"
    return Done(text=text.lstrip("\n") or "No matches", values=values)


TOOLS: tuple[ToolSpec, ...] = (grep_files, file_grep, py_find_usages)
