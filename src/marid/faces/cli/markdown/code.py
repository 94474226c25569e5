"""Blocks of code: every line exactly as it came, on its own ground, under a label."""

from dataclasses import dataclass

from marid.faces.cli.markdown.ink import Ink, Margin
from marid.faces.cli.markdown.starts import Container, dedented
from marid.faces.cli.markdown.style import Style, background, foreground


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fence:
    """An open fence: its marks, its language, the column it stands in and what it stands in."""

    mark: str
    label: str
    column: int
    containers: tuple[Container, ...]

    def inner(self, line: str) -> str | None:
        """The line without the quotes that the fence stands in; None if it lacks one, which ends the fence."""
        for container in self.containers:
            if not container.marker:
                line = line.lstrip(" \t")
                if not line.startswith(">"):
                    return None
                line = line[1:].removeprefix(" ")
        return line

    def is_closed_by(self, line: str) -> bool:
        """A line with at least as many of the same marks, and nothing else, closes it."""
        bare = line.strip(" \t")
        deep = dedented(line, self._inner_column() + 3).startswith((" ", "\t"))
        return len(bare) >= len(self.mark) and not bare.strip(self.mark[0]) and not deep

    def exact(self, line: str) -> str:
        """A line of code without the blanks that only bring it under the fence."""
        return dedented(line, self._inner_column())

    def _inner_column(self) -> int:
        """The fence's column, counted from the quote it stands in, as `inner` leaves lines."""
        quotes = [container.column for container in self.containers if not container.marker]
        return max(self.column - quotes[-1] - 2, 0) if quotes else self.column


def fence_of(line: str, column: int, containers: tuple[Container, ...]) -> Fence | None:
    """The fence that a line opens; None if more marks follow on it, since then it is code inside text."""
    bare = line.lstrip(line[0])
    if line[0] == "`" and "`" in bare:
        return None
    words = bare.split()
    return Fence(
        mark=line[: len(line) - len(bare)], label=words[0] if words else "", column=column, containers=containers
    )


class Code:
    """Writes lines of code. A line may come in parts."""

    def __init__(self, ink: Ink, style: Style) -> None:
        self._ink = ink
        self._look = background(style.code_bg)
        self._label = foreground(style.code_label)
        self.is_partial = False

    def label(self, margin: Margin, text: str) -> None:
        """The line above the code."""
        self._ink.start(margin)
        self._ink.add(text, self._label)
        self._ink.stop()

    def part(self, margin: Margin, text: str) -> None:
        """A part of a line that goes on."""
        if not self.is_partial:
            self._ink.start(margin, self._look)
        self.is_partial = True
        self._ink.add(text, self._look)

    def line(self, margin: Margin, text: str) -> None:
        """A whole line, or the last part of one."""
        if text or self.is_partial:
            self.part(margin, text)
            self._ink.stop()
        else:
            self._ink.blank(margin, self._look)
        self.is_partial = False
