"""Read a text file or a pipe that the user names."""

import os
import stat

from marid.app.app import RequestScope
from marid.core.errors import BadInput, NotFound, Unavailable
from marid.text.display import quote_path
from marid.workspace.plain_files import read_small_text

_MAX_BYTES = 10 << 20
# Read from the descriptor itself: opening these names again would start at the beginning of the file.
_STDIN = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


def is_file(scope: RequestScope, path: str) -> bool:
    """Whether this is the path of an existing file."""
    place = os.path.join(scope.cwd, path)
    return os.path.exists(place) and not os.path.isdir(place)


def read_text_file(scope: RequestScope, path: str, max_bytes: int = _MAX_BYTES) -> str:
    """The text of a file or a pipe. Raises: NotFound; BadInput if it is too large or not UTF-8; Unavailable."""
    shown, place = quote_path(path), os.path.join(scope.cwd, path)
    try:
        return _read_stream(place, max_bytes) if _is_stream(place) else read_small_text(place, max_bytes)
    except FileNotFoundError:
        raise NotFound(f"the file '{shown}' does not exist") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"'{shown}' is not UTF-8 text") from error
    except (IsADirectoryError, ValueError) as error:
        raise BadInput(f"'{shown}' cannot be read: {error}") from error
    except OSError as error:
        raise Unavailable(f"'{shown}' cannot be read: {error.strerror}") from error


def _is_stream(place: str) -> bool:
    mode = os.stat(place).st_mode
    return place in _STDIN or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _read_stream(place: str, max_bytes: int) -> str:
    at = 0 if place in _STDIN else place
    with open(at, "rb", closefd=at != 0) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"it is larger than {max_bytes:,} bytes")
    return data.decode()
