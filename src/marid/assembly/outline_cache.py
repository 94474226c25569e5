"""Cache outlines by content."""

from collections.abc import Sequence

from marid.ports.cache import Cache
from marid.ports.outlines import Outlines
from marid.text.content_hash import content_key

# Increase when outlines of the same content change.
_VERSION = 1
# The first byte of a row: whether there is an outline.
_NONE, _SOME = b"-", b"+"


class CachedOutlines:
    """Asks `inner` only for outlines that are not in `cache`."""

    def __init__(self, inner: Outlines, cache: Cache) -> None:
        self._inner = inner
        self._cache = cache

    def outline(self, data: bytes, language: str) -> str | None:
        """As in the port."""
        return self.outlines([(data, language)])[0]

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        """As in the port."""
        keys = [content_key(language.encode() + b"\0" + data) for data, language in items]
        kind = f"outline:{_VERSION}"
        rows = self._cache.get(kind, keys)
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in rows}
        if missing:
            made = self._inner.outlines(list(missing.values()))
            fresh = {
                key: _NONE if text is None else _SOME + text.encode("utf-8", "surrogatepass")
                for key, text in zip(missing, made, strict=True)
            }
            self._cache.put(kind, fresh)
            rows |= fresh
        found = (rows[key] for key in keys)
        return [row[1:].decode("utf-8", "replace") if row.startswith(_SOME) else None for row in found]
