"""Outlines without a parser, and a parser that misbehaves."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from marid.core.errors import BadInput, Unavailable


class FakeOutlines:
    """The first line of a file is its outline; an empty file and the language "none" have no outline."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytes, str]] = []

    def outline(self, data: bytes, language: str) -> str | None:
        self.asked.append((data, language))
        return first_line(data, language)

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        return [self.outline(data, language) for data, language in items]


def first_line(data: bytes, language: str) -> str | None:
    """A target that behaves."""
    if not data or language == "none":
        return None
    return data.split(b"\n", 1)[0].decode("utf-8", "replace")


def misbehave(data: bytes, language: str) -> str | None:
    """A target that does what the file says."""
    match data:
        case b"sleep":
            Path(language).touch()  # shows that it has started
            Event().wait()
        case b"spin":
            while True:
                pass
        case b"abort":
            os.abort()
        case b"exit":
            sys.exit(3)
        case b"raise":
            raise ValueError("cannot parse this")
        case b"refuse":
            raise BadInput("line 3 is wrong")
        case b"unavailable":
            raise Unavailable("no parser")
        case b"recurse":
            return misbehave(data, language)
        case b"allocate":
            hoard: list[bytes] = []
            while True:
                hoard.append(bytes(1 << 24))
        case b"print":
            print("noise on standard output", flush=True)
            os.write(1, b"\0\0\0\1+ more noise")
            os.write(2, b"noise on standard error")
            return f"read {sys.stdin.read()!r}"
        case b"flood":
            return "x" * (65 << 20)
        case b"pid":
            return str(os.getpid())
        case b"where":
            return f"{sorted(os.environ)} {Path.cwd() in [Path(entry) for entry in sys.path]}"
        case b"surrogate":
            return "a\udcffb"
        case _:
            return first_line(data, language)
    return "never"
