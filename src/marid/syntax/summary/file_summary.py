"""What a file is and what is in it, in a few lines."""

from collections.abc import Iterator

from marid.core.errors import BadInput, Exhausted
from marid.syntax.languages import fence_of, language_of
from marid.syntax.summary.data_summary import json_lines, markdown_lines, record_lines, toml_lines, yaml_lines
from marid.syntax.summary.python_summary import python_lines
from marid.syntax.treesitter.definitions import visible_definitions
from marid.text.decode import to_utf8
from marid.text.lines import line_count

_READERS = {
    "toml": toml_lines,
    "json": json_lines,
    "records": record_lines,
    "yaml": yaml_lines,
    "markdown": markdown_lines,
}


def file_summary(name: str, data: bytes) -> str:
    """The first line says kind, lines and bytes; what the file holds follows. A file that is broken says so.

    Raises:
        Exhausted: it is nested too deeply to be read.
        Unavailable: the package of a grammar is not installed.
    """
    text = to_utf8(data)
    if text is None:
        return f"binary file, {len(data):,} bytes"
    kind = _detect_kind(name, data)
    lines = line_count(text[0])
    head = f"{kind or 'text'}, {lines:,} {'line' if lines == 1 else 'lines'}, {len(data):,} bytes"
    return "\n".join([head, *_content_lines(kind, name, data, text[0])]) if data.strip() else f"{head}\nempty"


def _detect_kind(name: str, data: bytes) -> str:
    first = data[:200].partition(b"\n")[0]
    return fence_of(name) or ("python" if first.startswith(b"#!") and b"python" in first else "")


def _content_lines(kind: str, name: str, data: bytes, text: bytes) -> list[str]:
    try:
        if kind == "python":
            return list(python_lines(data))
        if kind in _READERS:
            form = "records" if name.lower().endswith((".jsonl", ".ndjson")) else kind
            return list(_READERS[form](text.decode().removeprefix("\ufeff")))
    except RecursionError as error:
        raise Exhausted("nested too deeply to be read") from error
    except (BadInput, ValueError) as error:
        return [f"does not parse: {error}", *_definition_lines(text, kind)]
    return list(_definition_lines(text, language_of(name) or ""))


def _definition_lines(text: bytes, language: str) -> Iterator[str]:
    for each in visible_definitions(text, language):
        yield f"{'  ' * each.depth}[{each.kind.capitalize()}] {each.signature} (Lines {each.start}-{each.end})"
