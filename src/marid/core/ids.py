"""Opaque, global ids. A path or a name is an alias of an id, never the id itself."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u to misread


def new_id() -> str:
    """26 characters, unique everywhere, and later ones sort after earlier ones (to the millisecond)."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
