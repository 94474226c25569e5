"""Response bodies in memory."""

from collections.abc import AsyncIterator

import httpx2


class Body(httpx2.AsyncByteStream):
    """Yields the pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)
        self.closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._pieces:
            raise StopAsyncIteration
        return self._pieces.pop(0)

    async def aclose(self) -> None:
        self.closed = True


class Endless(Body):
    """Never ends."""

    async def __anext__(self) -> bytes:
        return b"x" * (1 << 20)
