"""What stands at the left of a line: the borders of quotes, the markers of list items or the space below them."""

from marid.faces.cli.markdown.cells import cells
from marid.faces.cli.markdown.ink import Margin, Piece
from marid.faces.cli.markdown.starts import Container
from marid.faces.cli.markdown.style import Style, foreground

BORDER = "│ "


def margins(containers: tuple[Container, ...], fresh: int, style: Style) -> tuple[Margin, Margin]:
    """The margin of the first line, which shows the markers of items from `fresh` on, and that of all others."""
    border = (BORDER, foreground(style.blockquote_border))
    first: list[Piece] = []
    rest: list[Piece] = []
    for index, container in enumerate(containers):
        space = (" " * (cells(container.marker) + 1), "")
        first.append(_marked(container, style) if container.marker and index >= fresh else space)
        rest.append(space)
        if not container.marker:
            first[-1] = rest[-1] = border
    return tuple(first), tuple(rest)


def _marked(container: Container, style: Style) -> Piece:
    return f"{container.marker} ", foreground(style.bullet)
