"""What was worked out before, by the content that it was worked out from."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Cache(Protocol):
    """Derived values only: every row may vanish at any time, and neither method ever raises for want of storage."""

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The rows that are there; a key without a row is left out."""
        ...

    def put(self, kind: str, rows: Mapping[bytes, bytes]) -> None:
        """Keep the rows if that is possible; a later row of the same kind and key replaces the earlier."""
        ...
