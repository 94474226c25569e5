"""A cache in a dictionary."""

from collections.abc import Mapping, Sequence


class FakeCache:
    """The port Cache. `gets` and `puts` record the calls as (kind, number of keys)."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, bytes], bytes] = {}
        self.gets: list[tuple[str, int]] = []
        self.puts: list[tuple[str, int]] = []

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        self.gets.append((kind, len(keys)))
        return {key: self.rows[kind, key] for key in keys if (kind, key) in self.rows}

    def put(self, kind: str, rows: Mapping[bytes, bytes]) -> None:
        self.puts.append((kind, len(rows)))
        self.rows.update({(kind, key): value for key, value in rows.items()})
