"""Ids of entries, conversations and runs: UUIDs of version 7 (RFC 9562) as lower-case text.

Ids are opaque: compare them, never parse them. Homes also hold 26-character ids and UUIDs of other versions, which stay
valid; those do not sort together with these, so order by time, not by id.
"""

import os
import time

RANDOM_BITS = 62


def new_id() -> str:
    """A new id; it sorts after every id that was made at least a quarter of a microsecond earlier."""
    return make_id(time.time_ns(), int.from_bytes(os.urandom(8), "big") >> 64 - RANDOM_BITS)


def make_id(time_ns: int, random: int) -> str:
    """The id of a time and of RANDOM_BITS random bits.

    The 12 bits after the milliseconds hold the fraction of the millisecond, so that ids sort without a shared counter.
    """
    millisecond, nanosecond = divmod(time_ns, 1_000_000)
    fraction = (nanosecond << 12) // 1_000_000
    digits = f"{millisecond << 80 | 7 << 76 | fraction << 64 | 2 << RANDOM_BITS | random:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
