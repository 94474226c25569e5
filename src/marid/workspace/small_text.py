"""Small text files that a person writes, read whatever stands in their place: a pipe is not waited for."""

import os
import stat

_OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_small_text(path: str, max_bytes: int) -> str:
    """The text of a regular file of at most so many bytes.

    Raises: OSError; ValueError for what is no such file, or no text in UTF-8.
    """
    with open(path, "rb", opener=lambda name, _flags: os.open(name, _OPEN_FLAGS)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no regular file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"it is larger than {max_bytes:,} bytes")
    return data.decode()
