"""Text files as the tools take and give them."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.text.encoded import Encoded, as_text
from marid.text.lines import human_size
from marid.text.visible import shown_path
from marid.toolkit.handles import FileRef, Handle, TargetRef
from marid.toolkit.outcome import Edit
from marid.workspace.guard import MOST_BYTES
from marid.workspace.nearby import missing
from marid.workspace.spans import binary_file


@contextmanager
def helped(path: Handle) -> Generator[None, None, None]:
    """Errors about a path that say what would help: the nearest names, the tools for huge files."""
    try:
        yield
    except NotFound as error:
        raise missing(path.place, path.given) from error


def read_bytes(path: FileRef) -> bytes:
    """The file whole. Raises: NotFound, Refused, BadInput, Exhausted."""
    with helped(path):
        try:
            return path.read()
        except Exhausted as error:
            raise Exhausted(
                f"'{shown_path(path.given)}' is larger than {human_size(MOST_BYTES)}: look at some lines of it with "
                "get_file_slice, file_head or file_tail"
            ) from error


def read_text(path: FileRef) -> tuple[bytes, Encoded]:
    """The file whole, as bytes and as text. Raises: NotFound, Refused, BadInput, Exhausted."""
    data = read_bytes(path)
    text = as_text(data)
    if text is None:
        raise BadInput(f"'{shown_path(path.given)}': {binary_file(len(data))}")
    return data, text


def check_size(data: bytes) -> None:
    """Raises: Exhausted for a file that no tool could read again."""
    if len(data) > MOST_BYTES:
        raise Exhausted(f"the file would have {human_size(len(data))}, more than {human_size(MOST_BYTES)}")


class Draft:
    """A file that is about to get a new text. Raises: what `read_text` does."""

    def __init__(self, path: TargetRef) -> None:
        self._path = path
        self._data, self._encoded = read_text(path)
        self.shown = shown_path(path.given)

    @property
    def text(self) -> str:
        """The text as it is."""
        return self._encoded.text

    def plan(self, text: str, said: str, values: Mapping[str, object]) -> Edit:
        """The plan that gives it this text, in its own encoding. Raises: BadInput for what that lacks, Exhausted."""
        after = self._encoded.encode(text)
        check_size(after)
        return Edit(changes=(self._path.change(self._data, after),), text=said, values=values)


def counted(number: int, noun: str) -> str:
    """The number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def at_least(least: int, **values: int) -> None:
    """Raises: BadInput that names the parameter that is too small."""
    for name, value in values.items():
        if value < least:
            raise BadInput(f"{name} is {value}: it must be at least {least}")
