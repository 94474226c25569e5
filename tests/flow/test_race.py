"""Somebody exchanges folders and files for links that lead out, all the time; nothing outside is read or written."""

import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes import swapper
from fakes.changes import Wanted, contents
from fakes.openings import both_openings
from marid.core.errors import MaridError
from marid.workspace.beneath import Opening
from marid.workspace.commit import commit
from marid.workspace.territory import Territory

FILES = ("d/f", "d/sub/f", "f", "way/f", "way/sub/f", "d/new/x", "d/sub/y")


@contextmanager
def swapping(root: Path) -> Generator[None]:
    """While somebody is at it."""
    with subprocess.Popen([sys.executable, swapper.__file__, str(root)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.read(1) == b"!"
        try:
            yield
        finally:
            assert other.poll() is None, "it ended by itself"
            other.kill()


class Prober:
    """Does everything that a tool can do, and keeps what it saw."""

    def __init__(self, territory: Territory) -> None:
        self.territory = territory
        self.seen: set[bytes] = set()
        self.refused = 0
        self.written = 0

    def read(self, name: str) -> None:
        self.seen.add(self.territory.place(name).read())

    def look(self, name: str) -> None:
        self.seen.update(entry.name.encode() for entry in self.territory.place(name).entries())

    def walk(self) -> None:
        for folder in self.territory.place(".").walk(ignored=True):
            self.seen.update(name.encode() for name in [*folder.names, *folder.folders])
            self.seen.update(folder.read(name) or b"" for name in folder.names)

    def write(self, name: str) -> None:
        place = self.territory.place(name, write=True)
        try:
            before = place.read()
            self.seen.add(before)
        except MaridError:
            before = None
        commit([Wanted(place=place, before=before, after=b"inside")])
        self.written += 1

    def round(self) -> None:
        for name in FILES:
            for probe in (self.read, self.write):
                self._try(lambda probe=probe, name=name: probe(name))
        for name in ("d", "way", "d/sub"):
            self._try(lambda name=name: self.look(name))
        self._try(self.walk)

    def _try(self, probe: Callable[[], None]) -> None:
        try:
            probe()
        except MaridError:
            self.refused += 1


def race(top: Path, opening: Opening, seconds: float) -> None:
    swapper.prepare(top)
    outside = contents(top / "out")
    prober = Prober(Territory([str(top / "r")], opening=opening))
    with swapping(top / "r"):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            prober.round()
    assert not [text for text in prober.seen if b"CANARY" in text or b"canary" in text]
    assert contents(top / "out") == outside
    assert b"inside" in prober.seen
    assert prober.written


@both_openings
def test_no_exchange_lets_anything_out(tmp_path: Path, opening: Opening) -> None:
    race(tmp_path, opening, 1.5)


@pytest.mark.soak
@both_openings
def test_no_exchange_lets_anything_out_for_long(tmp_path: Path, opening: Opening) -> None:
    race(tmp_path, opening, 10)
