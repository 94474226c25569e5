"""Text files as the tools take and give them."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.text.decode import DecodedText, decode_text
from marid.text.display import human_size, quote_path
from marid.toolkit.handles import FileRef, PathHandle, TargetRef
from marid.toolkit.outcome import EditPlan
from marid.workspace.find.path_search import not_found_error
from marid.workspace.guard.api import MAX_FILE_BYTES
from marid.workspace.line_reader import binary_file_error


@contextmanager
def with_path_hints(path: PathHandle) -> Generator[None, None, None]:
    """Errors about a path that say what would help: the nearest names, the tools for huge files."""
    try:
        yield
    except NotFound as error:
        raise not_found_error(path.path, path.raw) from error


def read_bytes(path: FileRef) -> bytes:
    """The file whole. Raises: NotFound, Refused, BadInput, Exhausted."""
    with with_path_hints(path):
        try:
            return path.read()
        except Exhausted as error:
            raise Exhausted(
                f"'{quote_path(path.raw)}' is larger than {human_size(MAX_FILE_BYTES)}: look at some lines of it with "
                "get_file_slice, file_head or file_tail"
            ) from error


def read_text(path: FileRef) -> tuple[bytes, DecodedText]:
    """The file whole, as bytes and as text. Raises: NotFound, Refused, BadInput, Exhausted."""
    data = read_bytes(path)
    text = decode_text(data)
    if text is None:
        raise BadInput(f"'{quote_path(path.raw)}': {binary_file_error(len(data))}")
    return data, text


def check_size(data: bytes) -> None:
    """Raises: Exhausted for a file that no tool could read again."""
    if len(data) > MAX_FILE_BYTES:
        raise Exhausted(f"the file would have {human_size(len(data))}, more than {human_size(MAX_FILE_BYTES)}")


class FileDraft:
    """A file that is about to get a new text. Raises: what `read_text` does."""

    def __init__(self, path: TargetRef) -> None:
        self._path = path
        self._data, self._encoded = read_text(path)
        self.display_path = quote_path(path.raw)

    @property
    def text(self) -> str:
        """The text as it is."""
        return self._encoded.text

    def plan(self, text: str, message: str, values: Mapping[str, object]) -> EditPlan:
        """The plan that gives it this text, in its own encoding. Raises: BadInput for what that lacks, Exhausted."""
        after = self._encoded.encode(text)
        check_size(after)
        return EditPlan(changes=(self._path.change(self._data, after),), text=message, values=values)


def count_text(number: int, noun: str) -> str:
    """The number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def check_at_least(least: int, **values: int) -> None:
    """Raises: BadInput that names the parameter that is too small."""
    for name, value in values.items():
        if value < least:
            raise BadInput(f"{name} is {value}: it must be at least {least}")
