"""Read small text files of the user, without waiting for a pipe in their place."""

import os
import stat

_OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_small_text(path: str, max_bytes: int) -> str:
    """The text of a regular file. Raises: OSError; ValueError if it is too large, not regular or not UTF-8."""
    with open(path, "rb", opener=lambda name, _flags: os.open(name, _OPEN_FLAGS)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a regular file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"larger than {max_bytes:,} bytes")
    return data.decode()
