"""C and C++ files as people read them: outlines, skeletons, single definitions. Bytes in, text out."""

from collections.abc import Iterator
from dataclasses import dataclass

from marid.syntax.cfamily_find import find
from marid.syntax.cfamily_items import Item, Source, namespaces, read
from marid.syntax.cfamily_spans import lines, long_value, signature, signature_end, span, whole_lines

_CALLED = frozenset(("Function", "Method"))


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Some of a file's text, and the first and last line of each piece of it."""

    text: str
    spans: tuple[tuple[int, int], ...]


def outline(data: bytes, language: str) -> str:
    """Everything outside function bodies, a line each: `[Kind] name (Lines X-Y)`, nested by indentation.

    Raises:
        Exhausted: the file cannot be parsed.
        Unavailable: the grammar's package is not installed.
    """
    source = read(data, language)
    spaces = namespaces(source.items)
    return "\n".join(_line(item, source, spaces) for item in source.items if _told(item))


def _told(item: Item) -> bool:
    """A macro without value is a switch or an include guard."""
    return item.node.type != "preproc_def" or item.node.child_by_field_name("value") is not None


def _line(item: Item, source: Source, spaces: frozenset[str]) -> str:
    kind, (first, last) = item.kind, lines(item, source)
    if kind == "Method" and "::" in item.name and item.name.split("::")[-2] in spaces:
        kind = "Function"
    indent = "  " * len(item.scope)
    return f"{indent}[{kind}] {item.name or '(anonymous)'} (Lines {first}-{last}){_bases(item, source.data)}"


def _bases(item: Item, data: bytes) -> str:
    if item.kind not in ("Class", "Struct") or item.body is None:
        return ""
    clause = item.body.prev_sibling
    if clause is None or clause.type != "base_class_clause":
        return ""
    bases = " ".join(data[clause.start_byte + 1 : clause.end_byte].decode("utf-8", "replace").split())
    return f" : {bases}"


def skeleton(data: bytes, language: str) -> str:
    """The file with `{ ... }` for the body of each function; long values and macros are cut too.

    Raises:
        Exhausted: the file cannot be parsed.
        Unavailable: the grammar's package is not installed.
    """
    source = read(data, language)
    made: list[bytes] = []
    at = 0
    for start, end, instead in _cuts(source):
        if start >= at:
            made += (data[at:start], instead)
            at = end
    made.append(data[at:])
    return b"".join(made).decode("utf-8", "replace")


def _cuts(source: Source) -> Iterator[tuple[int, int, bytes]]:
    for item in source.items:
        if item.kind in _CALLED and item.body is not None:
            yield _without_body(item, source)
        elif item.kind == "Macro":
            value = item.node.child_by_field_name("value")
            if value is not None and b"\n" in source.data[value.start_byte : value.end_byte]:
                yield value.start_byte, value.end_byte, b"..."
        elif item.kind in ("Variable", "Field") and (value := long_value(item.node)) is not None:
            braced = source.data[value.start_byte : value.start_byte + 1] == b"{"
            yield value.start_byte, value.end_byte, b"{ ... }" if braced else b"..."


def _without_body(item: Item, source: Source) -> tuple[int, int, bytes]:
    cut, end = signature_end(item, source), item.node.end_byte
    whole = span(item, source)
    if whole.start < item.outer.start_byte or whole.end > item.outer.end_byte:  # its directives would lose their pairs
        return whole.start, whole.end, signature(item, source).encode() + b" { ... }"
    return cut, end, b" { ... }"


def definition(data: bytes, language: str, name: str, where: str) -> Excerpt:
    """The whole text of what a name means; overloads follow each other.

    Raises:
        NotFound: nothing in `where`, the path as it was given, has this name.
        BadInput: the name is ambiguous.
        Exhausted: the file cannot be parsed.
        Unavailable: the grammar's package is not installed.
    """
    source = read(data, language)
    found = find(source, name, where)
    return _excerpt(found, source, [_text(item, source) for item in _distinct(found, source)])


def _distinct(found: tuple[Item, ...], source: Source) -> list[Item]:
    """`int a, b;` is one text for two names."""
    return list({span(item, source): item for item in found}.values())


def _text(item: Item, source: Source) -> str:
    start, end, _ = span(item, source)
    return source.data[whole_lines(source.data, start) : end].decode("utf-8", "replace")


def signatures(data: bytes, language: str, name: str, where: str) -> Excerpt:
    """How what a name means is declared, without body, value and `;`.

    Raises:
        NotFound: nothing in `where` has this name.
        BadInput: the name is ambiguous.
        Exhausted: the file cannot be parsed.
        Unavailable: the grammar's package is not installed.
    """
    source = read(data, language)
    found = find(source, name, where)
    return _excerpt(found, source, [signature(item, source) for item in found])


def _excerpt(found: tuple[Item, ...], source: Source, texts: list[str]) -> Excerpt:
    gap = "\n\n" if any("\n" in text for text in texts) else "\n"
    return Excerpt(text=gap.join(texts), spans=tuple(lines(item, source) for item in found))
