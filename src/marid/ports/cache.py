"""Port to the cache of derived values, by the content that they were derived from."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Cache(Protocol):
    """Every row may vanish at any time. Neither method raises if the storage fails."""

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The rows that exist; other keys are left out."""
        ...

    def put(self, kind: str, rows: Mapping[bytes, bytes]) -> None:
        """Store the rows, if possible, in place of earlier ones of the same kind and key."""
        ...
