"""The program as a user calls it, in this process or in another one."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.faces.signals import SignalGuard
from marid.launch.start import run


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a call."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


class Program:
    """marid with an empty home, started in `folder`."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]) -> None:
        self._monkeypatch = monkeypatch
        self._capture = capture
        self.folder = place / "project"
        self.folder.mkdir()
        for name in list(os.environ):
            if name.startswith(("MARID_", "JINNI_", "CHIBI_", "GIT_", "XDG_")) or name in ("NO_COLOR", "FORCE_COLOR"):
                monkeypatch.delenv(name)
        self.set(MARID_HOME=str(place / "home"), HOME=str(place), GIT_CONFIG_NOSYSTEM="1")
        monkeypatch.chdir(self.folder)

    def set(self, **environment: str) -> None:
        for name, value in environment.items():
            self._monkeypatch.setenv(name, value)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        plant(self.folder, files)

    def __call__(self, *args: str, called: str = "marid") -> Outcome:
        """Run it in this process."""
        self._capture.readouterr()
        code = run([called, *args])
        captured = self._capture.readouterr()
        return Outcome(code=code, out=captured.out, err=captured.err.decode())

    def context(self, *args: str) -> Outcome:
        return self("context", *args)

    def apart(self, *args: str, given: bytes = b"", environment: Mapping[str, str] | None = None) -> Outcome:
        """Run it in another process, with `given` as its input."""
        done = subprocess.run(
            [sys.executable, "-m", "marid", *args],
            input=given,
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, **(environment or {})},
        )
        return Outcome(code=done.returncode, out=done.stdout, err=done.stderr.decode())


@pytest.fixture
def marid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Program:
    """The program, in an empty project."""
    return Program(tmp_path, monkeypatch, capfdbinary)


_LONG = 600.0


def lasting_signals() -> SignalGuard:
    """Signals that never end the process: a hanging test is ended by its time limit."""
    return SignalGuard(on_hang=lambda number: None, on_repeat=lambda number: None, grace=_LONG)
