"""Other people than the one who runs the tests, who is often root and may do anything."""

import os
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def as_nobody() -> Generator[None]:
    """With the rights of nobody in particular."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)
