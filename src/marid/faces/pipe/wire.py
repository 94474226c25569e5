"""JSON lines: results and entries on stdout, everything else on stderr."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

from marid.core.entry import THOUGHTS, Entry
from marid.core.entry_fields import fields_of
from marid.core.errors import Unavailable

_HIDDEN = "[hidden]"
# What is shorter is no key, and would make holes into words.
_SHORTEST = 5


class Unread(Unavailable):
    """Nobody takes the results."""


class Wire:
    """Every line is written as a whole and flushed. What `hide` names never stands on stderr."""

    def __init__(self, out: BinaryIO, err: BinaryIO) -> None:
        self._out = out
        self._err = err
        self._secrets: tuple[str, ...] = ()

    def hide(self, secrets: tuple[str, ...]) -> None:
        """From now on these are not told in events: keys that a request has brought."""
        long = {secret for secret in secrets if len(secret) >= _SHORTEST}
        self._secrets = tuple(sorted({*self._secrets, *long}, key=len, reverse=True))

    def result(self, content: str, **more: object) -> None:
        """What the command came to, and in `more` what a program would rather have than words.

        Raises: Unavailable when nobody takes it.
        """
        self._told({"type": "result", "content": content, **more})

    def entry(self, entry: Entry) -> None:
        """A line of the transcript, as it is stored but for what the model thought: that stays in the transcript.

        Raises: Unavailable when nobody takes it.
        """
        besides = {name: value for name, value in entry.metadata.items() if name != THOUGHTS}
        self._told(fields_of(entry._replace(metadata=besides)))

    def text(self, text: str) -> None:
        """Text as it is, for flags that are asked for by people. Raises: Unavailable when nobody takes it."""
        self._written(text.encode("utf-8", "backslashreplace") + b"\n")

    def event(self, kind: str, /, **fields: object) -> None:
        """What happens. Nobody can be told that stderr is gone."""
        masked = {name: self._masked(value) for name, value in fields.items()}
        with suppress(OSError, ValueError):
            self._err.write(_line({"type": kind, **masked}))
            self._err.flush()

    def _masked(self, value: object) -> object:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, _HIDDEN)
        return value

    def _told(self, fields: Mapping[str, object]) -> None:
        self._written(_line(fields))

    def _written(self, line: bytes) -> None:
        try:
            self._out.write(line)
            self._out.flush()
        except (OSError, ValueError) as error:  # the reader has gone, the disk is full, the stream is closed
            raise Unread(f"results cannot be written to stdout: {error}") from error


def _line(fields: Mapping[str, object]) -> bytes:
    """ASCII, so that no reader can be wrong about the encoding and no text breaks it."""
    return json.dumps(fields, separators=(",", ":"), default=str).encode() + b"\n"
