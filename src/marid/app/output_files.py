"""What a person asked to have in a file."""

import os
from collections.abc import Iterable, Sequence

from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.workspace.plain_files import replace_file, write_all

_STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def save_bytes(batches: Iterable[Sequence[bytes]], path: str) -> None:
    """Write `batches` to a file, whole or not at all.

    Raises: Refused when the place cannot be written.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or path.endswith(os.sep):
        raise BadInput(f"'{path}' is a folder: name a file to write")
    if not os.path.isdir(folder):
        raise NotFound(f"the folder '{folder}' is not there")
    try:
        if path in _STDOUT or (os.path.exists(path) and not os.path.isfile(path)):
            _write_through(path, batches)
        else:
            replace_file(path, batches)
    except PermissionError as error:
        raise Refused(f"'{path}' cannot be written: no permission") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unavailable(f"'{path}' cannot be written: {error.strerror}") from error


def _write_through(path: str, batches: Iterable[Sequence[bytes]]) -> None:
    """A device or a pipe takes what it is given; it must not be replaced by a file. Behind stdout may be a file, which
    others write to as well.
    """
    descriptor = os.dup(1) if path in _STDOUT else os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        for batch in batches:
            write_all(descriptor, batch)
    finally:
        os.close(descriptor)
