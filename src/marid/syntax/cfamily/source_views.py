"""Outlines, skeletons and single definitions of C and C++ files: bytes in, text out."""

from collections.abc import Iterator

from marid.syntax.cfamily.declaration_lookup import find_declarations
from marid.syntax.cfamily.declarations import CDeclaration, CSource, multiline_value, parse_source
from marid.syntax.treesitter.nodes import CodeExcerpt, cut_pieces, line_start, node_text

_CALLABLE_KINDS = frozenset(("Function", "Method"))


def outline(data: bytes, language: str) -> str:
    """Everything outside function bodies, a line each: `[Kind] name (Lines X-Y)`, nested. Raises as `parse_tree`."""
    source = parse_source(data, language)
    # A macro without a value is a switch or an include guard.
    return "\n".join(
        _outline_line(item, source)
        for item in source.declarations
        if item.node.type != "preproc_def" or item.node.child_by_field_name("value") is not None
    )


def _outline_line(item: CDeclaration, source: CSource) -> str:
    kind, (first, last) = item.kind, source.line_range(item)
    if kind == "Method" and "::" in item.name and item.name.split("::")[-2] in source.namespaces:
        kind = "Function"
    clause = item.body.prev_sibling if item.body and kind in ("Class", "Struct") else None
    is_bases = clause is not None and clause.type == "base_class_clause"
    bases = " : " + " ".join(node_text(clause, source.data)[1:].split()) if is_bases else ""
    return f"{'  ' * len(item.scope)}[{kind}] {item.name or '(anonymous)'} (Lines {first}-{last}){bases}"


def skeleton(data: bytes, language: str) -> str:
    """The file with `{ ... }` for function bodies and `...` for long values and macros. Raises as `parse_tree`."""
    return b"".join(cut_pieces(data, _skeleton_cuts(parse_source(data, language)))).decode("utf-8", "replace")


def _skeleton_cuts(source: CSource) -> Iterator[tuple[int, int, bytes]]:
    for item in source.declarations:
        if item.kind in _CALLABLE_KINDS and item.body is not None:
            start, end, _ = source.span(item)
            if start < item.outer.start_byte or end > item.outer.end_byte:  # keep its directives balanced
                yield start, end, source.signature(item).encode() + b" { ... }"
            else:
                yield source.signature_end(item), item.node.end_byte, b" { ... }"
        elif item.kind == "Macro":
            value = item.node.child_by_field_name("value")
            if value is not None and b"\n" in source.data[value.start_byte : value.end_byte]:
                yield value.start_byte, value.end_byte, b"..."
        elif item.kind in ("Variable", "Field") and (value := multiline_value(item.node)) is not None:
            braced = source.data[value.start_byte : value.start_byte + 1] == b"{"
            yield value.start_byte, value.end_byte, b"{ ... }" if braced else b"..."


def definition(data: bytes, language: str, name: str, where: str) -> CodeExcerpt:
    """The text of all declarations of a name in the file `where`. Raises as `find_declarations`."""
    source = parse_source(data, language)
    found = find_declarations(source, name, where)
    spans = dict.fromkeys(source.span(item) for item in found)  # `int a, b;` is one text for two names
    texts = [data[line_start(data, start) : end].decode("utf-8", "replace") for start, end, _ in spans]
    return _make_excerpt(found, source, texts)


def signatures(data: bytes, language: str, name: str, where: str) -> CodeExcerpt:
    """Like `definition`, without body, value and `;`. Raises as `find_declarations`."""
    source = parse_source(data, language)
    found = find_declarations(source, name, where)
    return _make_excerpt(found, source, [source.signature(item) for item in found])


def _make_excerpt(found: tuple[CDeclaration, ...], source: CSource, texts: list[str]) -> CodeExcerpt:
    gap = "\n\n" if any("\n" in text for text in texts) else "\n"
    return CodeExcerpt(text=gap.join(texts), spans=tuple(source.line_range(item) for item in found))
