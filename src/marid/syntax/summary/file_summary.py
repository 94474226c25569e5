"""Summarize any file in a few lines."""

import ast
from collections.abc import Iterator

from marid.core.errors import BadInput, Exhausted
from marid.syntax.languages import fence_of, language_of
from marid.syntax.python.imports import module_names
from marid.syntax.python.scopes import assigned_names, docstring_node, docstring_text, is_constant, statements
from marid.syntax.python.source import DEFINITION_NODES, FUNCTION_NODES, DefinitionNode, PythonSource, read_source
from marid.syntax.summary.data_summary import json_lines, markdown_lines, record_lines, toml_lines, yaml_lines
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
    """Kind, lines and bytes in the first line, then the contents, or `does not parse` for a broken file.

    Raises: Exhausted if it is nested too deeply, Unavailable if a grammar is not installed.
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
            return list(_python_lines(data))
        if kind in _READERS:
            form = "records" if name.lower().endswith((".jsonl", ".ndjson")) else kind
            return list(_READERS[form](text.decode().removeprefix("\ufeff")))
    except RecursionError as error:
        raise Exhausted("nested too deeply to read") from error
    except (BadInput, ValueError) as error:
        return [f"does not parse: {error}", *_definition_lines(text, kind)]
    return list(_definition_lines(text, language_of(name) or ""))


def _definition_lines(text: bytes, language: str) -> Iterator[str]:
    for each in visible_definitions(text, language):
        yield f"{'  ' * each.depth}[{each.kind.capitalize()}] {each.signature} (Lines {each.start}-{each.end})"


def _python_lines(data: bytes) -> Iterator[str]:
    """Docstring, imports, classes with methods, functions, constants, variables. Raises as `read_source`."""
    source = read_source(data)
    top = list(statements(source.tree.body))
    if docstring_node(source.tree):
        yield f'"{docstring_text(source.tree).partition(chr(10))[0]}"'
    imported = [name for node in top if isinstance(node, ast.Import | ast.ImportFrom) for name in module_names(node)]
    yield from _name_list("imports", imported)
    for node in top:
        if isinstance(node, ast.ClassDef):
            yield from _class_lines(source, node)
    functions = [f"  {_signature_line(source, node)}" for node in top if isinstance(node, FUNCTION_NODES)]
    if functions:
        yield from ("functions:", *functions)
    yield from _name_list("constants", [name for node in top for name in assigned_names(node) if is_constant(name)])
    yield from _name_list("variables", [name for node in top for name in assigned_names(node) if not is_constant(name)])


def _class_lines(source: PythonSource, node: ast.ClassDef) -> Iterator[str]:
    yield _signature_line(source, node)
    for each in statements(node.body):
        if isinstance(each, DEFINITION_NODES):
            yield f"  {_signature_line(source, each)}"


def _signature_line(source: PythonSource, node: DefinitionNode) -> str:
    start, end = source.line_span(node)
    return f"{' '.join(source.signature(node).split())} (Lines {start}-{end})"


def _name_list(title: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"{title}: {', '.join(dict.fromkeys(names))}"
