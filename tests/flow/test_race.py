"""Somebody exchanges folders and files for links that lead out, all the time; nothing outside is read or written."""

import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes import link_swapper
from fakes.files import FakeChange, both_openers, file_contents
from fakes.hostile_project import context_reader
from fakes.tool_caller import ToolCaller
from fakes.worktree import new_worktree
from marid.adapters.git.local_git import LocalGit
from marid.assembly.context_reader import ContextReader
from marid.core.errors import MaridError
from marid.ports.git import Git
from marid.tools.git_diff import get_git_diff
from marid.tools.project_context import read_context
from marid.workspace.guard.openat import OpenBeneath
from marid.workspace.guard.path_scope import PathScope
from marid.workspace.write.commit import commit

FILES = ("d/f", "d/sub/f", "f", "way/f", "way/sub/f", "d/new/x", "d/sub/y")


@contextmanager
def swapping(root: Path) -> Generator[None]:
    """While somebody is at it."""
    with subprocess.Popen([sys.executable, link_swapper.__file__, str(root)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.read(1) == b"!"
        try:
            yield
        finally:
            assert other.poll() is None, "it ended by itself"
            other.kill()


class Prober:
    """Does everything that a tool can do, and keeps what it saw."""

    def __init__(self, territory: PathScope) -> None:
        self.path_scope = territory
        self.seen: set[bytes] = set()
        self.refused = 0
        self.written = 0

    def read(self, name: str) -> None:
        self.seen.add(self.path_scope.resolve(name).read())

    def look(self, name: str) -> None:
        self.seen.update(entry.name.encode() for entry in self.path_scope.resolve(name).entries())

    def walk(self) -> None:
        for folder in self.path_scope.resolve(".").walk(ignored=True):
            self.seen.update(name.encode() for name in [*folder.names, *folder.folders])
            self.seen.update(folder.read(name) or b"" for name in folder.names)

    def write(self, name: str) -> None:
        place = self.path_scope.resolve(name, write=True)
        try:
            before = place.read()
            self.seen.add(before)
        except MaridError:
            before = None
        commit([FakeChange(path=place, before=before, after=b"inside")])
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


def race(top: Path, opening: OpenBeneath, seconds: float) -> None:
    link_swapper.prepare(top)
    outside = file_contents(top / "out")
    prober = Prober(PathScope([str(top / "r")], opening=opening))
    with swapping(top / "r"):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            prober.round()
    assert not [text for text in prober.seen if b"CANARY" in text or b"canary" in text]
    assert file_contents(top / "out") == outside
    assert b"inside" in prober.seen
    assert prober.written


@both_openers
def test_no_exchange_lets_anything_out(tmp_path: Path, opening: OpenBeneath) -> None:
    race(tmp_path, opening, 1.5)


def test_no_exchange_lets_a_client_read_context_of_what_is_outside(tmp_path: Path) -> None:
    link_swapper.prepare(tmp_path)
    root = str(tmp_path / "r")
    hands = ToolCaller(tmp_path / "r", {ContextReader: context_reader()})
    wishes = (
        {"path": f"{root}/d"},
        {"path": root, "targets": ["d", "way", "f"]},
        {"path": root, "targets": ["d/sub/f"]},
    )
    seen: set[str] = set()
    with swapping(tmp_path / "r"):
        until = time.monotonic() + 2
        while time.monotonic() < until:
            for wish in wishes:
                seen.add(hands.call(read_context, **wish).text)
    assert any("inside" in text for text in seen)
    assert not [text for text in seen if "CANARY" in text or "canary" in text]


def test_no_exchange_makes_git_show_what_is_outside(tmp_path: Path) -> None:
    tree = new_worktree(tmp_path)
    tree.commit("first", {f"d/{number}": b"first\n" for number in range(30)})
    outside = tree.path.parent / "out"
    outside.mkdir()
    for number in range(30):
        tree.write(f"d/{number}", b"inside\n")
        (outside / str(number)).write_text("CANARY\n")
    for name, target in (("d", outside), ("way", outside), ("f", outside / "1")):
        (tree.path / f"{name}.link").symlink_to(target)
    (tree.path / "way").symlink_to("d")
    tree.write("f", b"inside\n")
    tree.write("d/sub/x", b"")
    (tree.path / "d/sub.link").symlink_to(outside)
    hands = ToolCaller(tree.path, {Git: LocalGit(tree.env)})
    git = LocalGit(tree.env)
    seen: list[str] = []
    with swapping(tree.path):
        until = time.monotonic() + 3
        while len(seen) < 100 or time.monotonic() < until:
            seen += (hands.call(get_git_diff, path=".").text, git.diff(tree.folder, None).decode())
    assert not [text for text in seen if "CANARY" in text]
    assert any("+inside" in text for text in seen)


@pytest.mark.soak
@both_openers
def test_no_exchange_lets_anything_out_for_long(tmp_path: Path, opening: OpenBeneath) -> None:
    race(tmp_path, opening, 10)
