"""Looking into code of any language."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, NamedTuple, cast

from marid.core.errors import BadInput, MaridError, Unavailable
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.syntax.any_language import code_views
from marid.syntax.any_language.references import Reference, code_references, target_identifier
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES, parsable_language
from marid.text.decode import to_utf8
from marid.text.display import quote_path
from marid.toolkit.handles import FileRef, PathRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import read_bytes, with_path_hints

_HERE = cast("PathRef", ".")
_NAME = "as in 'Shop', 'Shop.total' or 'Shop::total'; several of one name: 'name@12' by line"
_MAX_LINES = 200
# Files are parsed in batches, so that a search that finds much stops early and holds little.
_BATCH_BYTES, _BATCH_FILES = 4 << 20, 64


@tool(family="code", effect=Effect.READ)
def get_skeleton(path: FileRef, *, workers: Workers) -> ToolOutput:
    """Show a source file with `...` for the body of every function.

    Python, JavaScript, TypeScript, C, C++, Java, Go, Rust, C#, Ruby, PHP, Bash; the file name decides the language.
    Signatures, types, docstrings and comments are kept; long values are cut.
    """
    data, language = _read_source(path)
    return ToolOutput(text=workers.run(code_views.skeleton, data, language), values={"language": language})


@tool(family="code", effect=Effect.READ)
def get_code_outline(path: FileRef, *, workers: Workers) -> ToolOutput:
    """List what a source file of any known language defines: `[Class] name (Lines X-Y)` a line, members indented."""
    data, language = _read_source(path)
    text = workers.run(code_views.outline, data, language)
    values = {"language": language, "count": text.count("\n") + bool(text)}
    return ToolOutput(text=text or f"{quote_path(path.raw)} defines nothing", values=values)


@tool(family="code", effect=Effect.READ)
def get_definition(path: FileRef, name: Annotated[str, _NAME], *, workers: Workers) -> ToolOutput:
    """Show the whole source of one definition in a file of any known language.

    Leave out surrounding names where the rest is unique. If there is no such name, the error lists the nearest ones.
    """
    data, language = _read_source(path)
    found = workers.run(code_views.definition, data, language, name, quote_path(path.raw))
    values = {"language": language, "lines": [list(span) for span in found.spans]}
    return ToolOutput(text=found.text, values=values)


@tool(family="code", effect=Effect.READ, timeout=60.0)
def find_references(
    name: Annotated[str, "an identifier; of a qualified name, the last part is looked for"],
    path: Annotated[PathRef, "a file, or a folder with all below it"] = _HERE,
    *,
    workers: Workers,
) -> ToolOutput:
    """Find where a name is used in code, as whole words outside of comments and strings.

    `path:line: text` a line, `[definition]` behind those that define it; in files of every known language, without what
    ignore files exclude. Only the word counts: what an equal name belongs to is not resolved.
    """
    word = target_identifier(name)
    lines: list[str] = []
    failed: list[str] = []
    files = 0
    for batch in _batches(_candidates(path, word)):
        calls = [(each.data, each.language, word) for each in batch]
        answers = workers.run_all(code_references, calls, cost=[len(each.data) for each in batch])
        for each, answer in zip(batch, answers, strict=True):
            if isinstance(answer, MaridError):
                failed.append(each.path)
            elif isinstance(answer, Exception):
                raise answer
            else:
                files += bool(answer)
                lines += (_reference_line(each.path, one) for one in answer)
        if len(lines) > _MAX_LINES:
            break
    shown = lines[:_MAX_LINES]
    values = {"count": len(shown), "files": files, "truncated": len(lines) > _MAX_LINES, "failed": len(failed)}
    shown = shown or [f"'{word}' is not used in the code of {quote_path(path.raw)}"]
    if values["truncated"]:
        shown.append(f"... cut after {_MAX_LINES} lines, there are more: give a narrower path")
    if failed:
        first = ", ".join(map(quote_path, failed[:5])) + (" …" if len(failed) > 5 else "")
        shown.append(f"... could not be parsed, so not searched: {first}")
    return ToolOutput(text="\n".join(shown), values=values)


def _reference_line(path: str, found: Reference) -> str:
    return f"{quote_path(path)}:{found.line}: {found.text}{'  [definition]' if found.is_definition else ''}"


def _read_source(path: FileRef) -> tuple[bytes, str]:
    """The file as UTF-8, and its language."""
    where, language = quote_path(path.raw), parsable_language(path.name)
    found = to_utf8(read_bytes(path))
    if language is None:
        raise Unavailable(f"no grammar is installed that reads {where}: read_file shows it as text")
    if found is None:
        raise BadInput(f"{where} is a binary file, not code")
    return found[0], language


class _Candidate(NamedTuple):
    path: str
    data: bytes
    language: str


def _candidates(path: PathRef, word: str) -> Iterator[_Candidate]:
    """The files that hold the word somewhere. What cannot be read or is no text is passed over in a folder."""
    with with_path_hints(path):
        is_folder = path.is_folder()
    if not is_folder:
        data, language = _read_source(path)
        if word.encode() in data:
            yield _Candidate(path.raw, data, language)
        return
    prefix = "" if path.name == "." else path.raw.rstrip("/") + "/"
    for folder in path.walk():
        inner = prefix + (folder.path.strip("/") + "/" if folder.path.strip("/") else "")
        for name in folder.names:
            language = parsable_language(name)
            raw = folder.read(name, MAX_PARSE_BYTES) if language else None
            if language and raw and word.encode() in raw and (text := to_utf8(raw)):
                yield _Candidate(inner + name, text[0], language)


def _batches(found: Iterator[_Candidate]) -> Iterator[list[_Candidate]]:
    """Some files at a time; more where they are small."""
    while batch := list(islice(found, 1)):
        size = len(batch[0].data)
        while size < _BATCH_BYTES and len(batch) < _BATCH_FILES and (more := next(found, None)):
            batch.append(more)
            size += len(more.data)
        yield batch
