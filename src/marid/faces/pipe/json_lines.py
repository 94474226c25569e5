"""JSON lines: results and entries on stdout, everything else on stderr."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

from marid.core.conversation.entry import THOUGHTS, Entry
from marid.core.conversation.entry_json import entry_to_dict
from marid.core.errors import Unavailable

_HIDDEN = "[hidden]"
# What is shorter is no key, and would make holes into words.
_MIN_SECRET_LENGTH = 5


class OutputClosed(Unavailable):
    """Nobody takes the results."""


class JsonLineWriter:
    """Every line is written as a whole and flushed. What `hide` names never stands on stderr."""

    def __init__(self, out: BinaryIO, err: BinaryIO) -> None:
        self._out = out
        self._err = err
        self._secrets: tuple[str, ...] = ()

    def hide(self, secrets: tuple[str, ...]) -> None:
        """From now on these are not told in events: keys that a request has brought."""
        long = {secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH}
        self._secrets = tuple(sorted({*self._secrets, *long}, key=len, reverse=True))

    def write_result(self, content: str, **more: object) -> None:
        """What the command came to, and in `more` what a program would rather have than words.

        Raises: Unavailable when nobody takes it.
        """
        self._write_fields({"type": "result", "content": content, **more})

    def write_entry(self, entry: Entry) -> None:
        """A line of the transcript, as it is stored but for what the model thought: that stays in the transcript.

        Raises: Unavailable when nobody takes it.
        """
        besides = {name: value for name, value in entry.metadata.items() if name != THOUGHTS}
        self._write_fields(entry_to_dict(entry._replace(metadata=besides)))

    def write_text(self, text: str) -> None:
        """Text as it is, for flags that are asked for by people. Raises: Unavailable when nobody takes it."""
        self._write_stdout(text.encode("utf-8", "backslashreplace") + b"\n")

    def write_event(self, kind: str, /, **fields: object) -> None:
        """What happens. Nobody can be told that stderr is gone."""
        masked = {name: self._mask(value) for name, value in fields.items()}
        with suppress(OSError, ValueError):
            self._err.write(_encode_line({"type": kind, **masked}))
            self._err.flush()

    def _mask(self, value: object) -> object:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, _HIDDEN)
        return value

    def _write_fields(self, fields: Mapping[str, object]) -> None:
        self._write_stdout(_encode_line(fields))

    def _write_stdout(self, line: bytes) -> None:
        try:
            self._out.write(line)
            self._out.flush()
        except (OSError, ValueError) as error:  # the reader has gone, the disk is full, the stream is closed
            raise OutputClosed(f"results cannot be written to stdout: {error}") from error


def _encode_line(fields: Mapping[str, object]) -> bytes:
    """ASCII, so that no reader can be wrong about the encoding and no text breaks it."""
    return json.dumps(fields, separators=(",", ":"), default=str).encode() + b"\n"
