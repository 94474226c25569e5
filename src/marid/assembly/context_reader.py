"""Project context for a caller that is not the user. Light: listing the tools imports it."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from marid.core.context import FileSelection, RenderOptions

if TYPE_CHECKING:
    from marid.workspace.guard.api import GuardedPath


class ContextText(NamedTuple):
    """Context as one text, and what the person who runs the program should know about it."""

    text: str
    files: int
    notices: tuple[str, ...]


class ContextReader(Protocol):
    """Assembles context as the settings say: masked, and within their size limit."""

    def read(
        self, folder: "GuardedPath", selection: FileSelection, render: RenderOptions, max_bytes: int | None
    ) -> ContextText:
        """The selected files of a folder; targets are relative to it. `max_bytes` is the caller's own limit, if any.

        Raises: NotFound, BadInput, Refused for a target; Exhausted for more than a limit or the budget allows.
        """
        ...
