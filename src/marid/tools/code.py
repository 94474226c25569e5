"""Looking into code of any language."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

from marid.core.errors import BadInput, MaridError, Unavailable
from marid.core.policy import Effect
from marid.ports.workers import Workers
from marid.text.decode import to_utf8
from marid.text.visible import shown_path
from marid.toolkit.handles import FileRef, PathRef
from marid.toolkit.outcome import Done
from marid.toolkit.spec import ToolSpec, tool
from marid.tools.texts import helped, read_bytes

if TYPE_CHECKING:
    from marid.syntax.code_references import Reference

_HERE = cast("PathRef", ".")
_NAME = "as in 'Shop', 'Shop.total' or 'Shop::total'; several of one name: 'name@12' by line"
_MOST_LINES = 200
# Files are parsed in batches, so that a search that finds much stops early and holds little.
_BATCH_BYTES, _BATCH_FILES = 4 << 20, 64


@tool(family="code", effect=Effect.READ)
def get_skeleton(path: FileRef, *, workers: Workers) -> Done:
    """Show a source file with `...` for the body of every function.

    Python, JavaScript, TypeScript, C, C++, Java, Go, Rust, C#, Ruby, PHP, Bash; the language is told by the file name.
    Signatures, types, docstrings and comments are kept; long values are cut.
    """
    from marid.syntax.code_text import skeleton  # imported when used, as all that parses

    data, language = _source(path)
    return Done(text=workers.run(skeleton, data, language), values={"language": language})


@tool(family="code", effect=Effect.READ)
def get_code_outline(path: FileRef, *, workers: Workers) -> Done:
    """List what a source file of any known language defines: `[Class] name (Lines X-Y)` a line, members indented."""
    from marid.syntax.code_text import outline

    data, language = _source(path)
    text = workers.run(outline, data, language)
    values = {"language": language, "count": text.count("\n") + bool(text)}
    return Done(text=text or f"{shown_path(path.given)} defines nothing", values=values)


@tool(family="code", effect=Effect.READ)
def get_definition(path: FileRef, name: Annotated[str, _NAME], *, workers: Workers) -> Done:
    """Show the whole source of one definition in a file of any known language.

    Surrounding names may be omitted where that leaves one. Not there: the nearest names are told.
    """
    from marid.syntax.code_text import definition

    data, language = _source(path)
    found = workers.run(definition, data, language, name, shown_path(path.given))
    values = {"language": language, "lines": [list(span) for span in found.spans]}
    return Done(text=found.text, values=values)


@tool(family="code", effect=Effect.READ, seconds=60.0)
def find_references(
    name: Annotated[str, "an identifier; of a qualified name, the last part is looked for"],
    path: Annotated[PathRef, "a file, or a folder with all below it"] = _HERE,
    *,
    workers: Workers,
) -> Done:
    """Find where a name is used in code, as whole words outside of comments and strings.

    `path:line: text` a line, `[definition]` behind those that define it; in files of every known language, without what
    ignore files exclude. Only the word counts: what an equal name belongs to is not resolved.
    """
    from marid.syntax import code_references

    word = code_references.word(name)
    search = _Search(word=word, workers=workers)
    for batch in _batches(_candidates(path, word)):
        search.look(batch)
        if len(search.lines) > _MOST_LINES:
            break
    return search.result(shown_path(path.given))


TOOLS: tuple[ToolSpec, ...] = (get_skeleton, get_code_outline, get_definition, find_references)


def _source(path: FileRef) -> tuple[bytes, str]:
    """The file as UTF-8, and its language."""
    from marid.syntax.code_trees import readable

    where, language = shown_path(path.given), readable(path.name)
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
    from marid.syntax.code_references import maybe
    from marid.syntax.code_trees import readable
    from marid.syntax.grammars import LIMIT

    with helped(path):
        is_folder = path.is_folder()
    if not is_folder:
        data, language = _source(path)
        if maybe(data, word):
            yield _Candidate(path.given, data, language)
        return
    prefix = "" if path.name == "." else path.given.rstrip("/") + "/"
    for folder in path.walk():
        inner = prefix + (folder.path.strip("/") + "/" if folder.path.strip("/") else "")
        for name in folder.names:
            language = readable(name)
            raw = folder.read(name, LIMIT) if language else None
            if language and raw and maybe(raw, word) and (text := to_utf8(raw)):
                yield _Candidate(inner + name, text[0], language)


def _batches(found: Iterator[_Candidate]) -> Iterator[list[_Candidate]]:
    """Some files at a time; more where they are small."""
    while first := list(islice(found, 1)):
        size = len(first[0].data)
        while size < _BATCH_BYTES and len(first) < _BATCH_FILES and (more := next(found, None)):
            first.append(more)
            size += len(more.data)
        yield first


@dataclass(kw_only=True)
class _Search:
    word: str
    workers: Workers
    lines: list[str] = field(default_factory=list[str])
    files: int = 0
    definitions: int = 0
    failed: list[str] = field(default_factory=list[str])

    def look(self, batch: list[_Candidate]) -> None:
        """Parse a batch and keep what it holds."""
        from marid.syntax.code_references import code_references

        calls = [(each.data, each.language, self.word) for each in batch]
        answers = self.workers.run_all(code_references, calls, cost=[len(each.data) for each in batch])
        for each, answer in zip(batch, answers, strict=True):
            if isinstance(answer, MaridError):
                self.failed.append(each.path)
            elif isinstance(answer, Exception):
                raise answer
            else:
                self.keep(each.path, answer)

    def keep(self, path: str, found: "tuple[Reference, ...]") -> None:
        """The lines of one file."""
        self.files += bool(found)
        self.definitions += sum(each.defines for each in found)
        where = shown_path(path)
        self.lines += (f"{where}:{each.line}: {each.text}{'  [definition]' if each.defines else ''}" for each in found)

    def result(self, where: str) -> Done:
        """All of it as text, cut where it gets long."""
        cut = len(self.lines) > _MOST_LINES
        told = self.lines[:_MOST_LINES] or [f"'{self.word}' is not used in the code of {where}"]
        if cut:
            told.append(f"... cut after {_MOST_LINES} lines, there are more: give a narrower path")
        if self.failed:
            first = ", ".join(shown_path(path) for path in self.failed[:5])
            told.append(f"... could not be parsed, so not looked into: {first}{' …' if len(self.failed) > 5 else ''}")
        shown = min(len(self.lines), _MOST_LINES)
        values = {"count": shown, "files": self.files, "truncated": cut, "failed": len(self.failed)}
        return Done(text="\n".join(told), values=values)
