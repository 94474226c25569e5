"""Another user than the one who runs the tests, who is often root."""

import os
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def as_nobody() -> Generator[None]:
    """With the rights of the user nobody."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)
