"""JSON lines: results and entries on stdout, everything else on stderr."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

from marid.core.conversation.entry import THOUGHTS, Entry
from marid.core.conversation.entry_json import entry_to_dict
from marid.core.errors import Unavailable
from marid.core.event_table import AnyEvent, event_line
from marid.core.events import Event
from marid.core.round_events import EntryStored, RoundEvent

_HIDDEN = "[hidden]"
# Shorter strings are not keys; hiding them would garble words.
_MIN_SECRET_LENGTH = 5


class OutputClosed(Unavailable):
    """The reader of the results is gone."""


class JsonLineWriter:
    """Writes each line at once and flushes it. Strings given to `hide` never appear on stderr."""

    def __init__(self, out: BinaryIO, err: BinaryIO) -> None:
        self._out = out
        self._err = err
        self._secrets: tuple[str, ...] = ()

    def hide(self, secrets: tuple[str, ...]) -> None:
        """Mask these strings, such as API keys, in events from now on."""
        long = {secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH}
        self._secrets = tuple(sorted({*self._secrets, *long}, key=len, reverse=True))

    def write_result(self, content: str, **more: object) -> None:
        """The result as text, with `more` fields for programs. Raises: OutputClosed."""
        self._write_stdout(_encode_line({"type": "result", "content": content, **more}))

    def write_entry(self, entry: Entry) -> None:
        """An entry as it is stored, without the model's reasoning. Raises: OutputClosed."""
        metadata = {name: value for name, value in entry.metadata.items() if name != THOUGHTS}
        self._write_stdout(_encode_line(entry_to_dict(entry._replace(metadata=metadata))))

    def write_text(self, text: str) -> None:
        """Plain text, for --version and the like. Raises: OutputClosed."""
        self._write_stdout(text.encode("utf-8", "backslashreplace") + b"\n")

    async def listen(self, event: Event[RoundEvent]) -> None:
        """Listen to a round. Raises: OutputClosed when no reader takes the entries."""
        self.write_event(event.what)

    def write_event(self, what: AnyEvent) -> None:
        """Write an event to stderr, where a closed stream is ignored; an entry is a result. Raises: OutputClosed.

        The answer is written once, as an entry: its pieces are not.
        """
        if isinstance(what, EntryStored):
            self.write_entry(what.entry)
        elif line := event_line(what):
            with suppress(OSError, ValueError):
                self._err.write(_encode_line({name: self._mask(value) for name, value in line.items()}))
                self._err.flush()

    def _mask(self, value: object) -> object:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, _HIDDEN)
        return value

    def _write_stdout(self, line: bytes) -> None:
        try:
            self._out.write(line)
            self._out.flush()
        except (OSError, ValueError) as error:  # the reader has gone, the disk is full, the stream is closed
            raise OutputClosed(f"cannot write results to stdout: {error}") from error


def _encode_line(fields: Mapping[str, object]) -> bytes:
    """ASCII, so that a wrong guess at the encoding does no harm."""
    return json.dumps(fields, separators=(",", ":"), default=str).encode() + b"\n"
