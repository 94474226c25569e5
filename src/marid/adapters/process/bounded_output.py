"""What a stream printed, of which the middle may be dropped: its beginning and its end say most."""

import codecs


class BoundedOutput:
    """At most `most` bytes are kept, half from the start and half from the end, however much comes."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, data: bytes) -> str:
        """Take what was printed; gives it as text for whoever watches, and "" once that is more than is kept."""
        watched = self._total < 2 * self._half
        self._total += len(data)
        text = self._decoder.decode(data) if watched else ""
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:  # twice, so that each byte is moved once
            del self._tail[: -self._half]
        return text

    @property
    def dropped_bytes(self) -> int:
        """How many bytes were dropped."""
        return max(0, self._total - 2 * self._half)

    def text(self) -> str:
        """What was kept, with a line where something is missing; what is not UTF-8 is replaced."""
        if not self.dropped_bytes:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        tail = bytes(self._tail[-self._half :])
        start = next(
            (at for at, byte in enumerate(tail[:3]) if byte & 0xC0 != 0x80), 3
        )  # not in the middle of a character
        return f"{head}\n[... {self.dropped_bytes:,} bytes left out ...]\n{tail[start:].decode('utf-8', 'replace')}"
