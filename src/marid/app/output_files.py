"""Write results to a file that the user names."""

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
        raise NotFound(f"the folder '{folder}' does not exist")
    try:
        if path in _STDOUT or (os.path.exists(path) and not os.path.isfile(path)):
            _write_through(path, batches)
        else:
            replace_file(path, batches)
    except PermissionError as error:
        raise Refused(f"{path}: permission denied") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unavailable(f"'{path}' cannot be written: {error.strerror}") from error


def _write_through(path: str, batches: Iterable[Sequence[bytes]]) -> None:
    """Write to a device or a pipe, which must not be replaced. Stdout may be a file that others write to as well."""
    descriptor = os.dup(1) if path in _STDOUT else os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        for batch in batches:
            write_all(descriptor, batch)
    finally:
        os.close(descriptor)
