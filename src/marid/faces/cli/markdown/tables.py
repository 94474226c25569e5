"""Tables: rows read as cells, and set in columns if they fit."""

from marid.faces.cli.markdown.cells import cells
from marid.faces.cli.markdown.ink import Piece
from marid.faces.cli.markdown.spans import Spans
from marid.faces.cli.markdown.style import Style, background, foreground

Cell = list[Piece]


def split_row(row: str) -> list[str]:
    """The cells of a row; a bar after a backslash belongs to its cell."""
    *others, last = row.strip().removeprefix("|").split("|")
    parts: list[str] = []
    cell: list[str] = []
    for part in others:
        if part.endswith("\\"):
            cell.append(part[:-1] + "|")
        else:
            parts.append("".join((*cell, part)).strip())
            cell = []
    parts.append("".join((*cell, last)).strip())
    return parts if parts[-1] else parts[:-1]


def alignments(header: str, row: str) -> list[str] | None:
    """How each column is aligned (< ^ >), if `row` is the line that makes `header` the head of a table."""
    names, marks = split_row(header), split_row(row)
    if not names or len(names) != len(marks):
        return None
    if not all(mark.strip(":") and not mark.removeprefix(":").removesuffix(":").strip("-") for mark in marks):
        return None
    return [("^" if mark.startswith(":") else ">") if mark.endswith(":") else "<" for mark in marks]


def table_lines(rows: list[str], room: int, style: Style) -> list[list[Piece]] | None:
    """The lines of the table whose second row aligns its columns; None if they are wider than the room."""
    aligned = alignments(rows[0], rows[1]) or []
    texts = [split_row(row) for index, row in enumerate(rows) if index != 1]
    columns = max(len(row) for row in texts)
    # Before any cell is filled up: a row of a thousand cells would make every row as long.
    if 4 * columns + 1 > room:
        return None
    aligned += ["<"] * (columns - len(aligned))
    table = [[_cell(text, style) for text in row] + [[]] * (columns - len(row)) for row in texts]
    widths = [max(1, *(_cells(row[column]) for row in table)) for column in range(columns)]
    if sum(widths) + 3 * columns + 1 > room:
        return None
    border = foreground(style.table_border)
    head, *body = (_line(row, list(zip(widths, aligned, strict=True)), border) for row in table)
    filled = background(style.table_header_bg)
    head = [(text, look if look == border else f"{filled};1;{look}".rstrip(";")) for text, look in head]
    top, middle, bottom = (_rule(widths, ends, border) for ends in ("┌┬┐", "├┼┤", "└┴┘"))
    return [top, head, middle, *body, bottom]


def _cell(text: str, style: Style) -> Cell:
    pieces: Cell = []

    def put(text: str, look: str = "", *, exact: bool = False) -> None:
        pieces.append((text.replace("\t", " "), look))

    spans = Spans(put, style)
    spans.feed(text)
    spans.end()
    return pieces


def _cells(cell: Cell) -> int:
    return sum(cells(text) for text, _ in cell)


def _line(row: list[Cell], shapes: list[tuple[int, str]], border: str) -> list[Piece]:
    line: list[Piece] = [("│", border)]
    for cell, (width, align) in zip(row, shapes, strict=True):
        space = width - _cells(cell)
        left = {"<": 0, "^": space // 2, ">": space}[align]
        line += [(" " * (left + 1), ""), *cell, (" " * (space - left + 1), ""), ("│", border)]
    return line


def _rule(widths: list[int], ends: str, border: str) -> list[Piece]:
    left, middle, right = ends
    return [(left + middle.join("─" * (width + 2) for width in widths) + right, border)]
