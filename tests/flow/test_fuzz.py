"""Hostile trees: nothing crashes, nothing hangs, nothing from outside the tree is shown."""

import json
import os
import random
import signal
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from types import FrameType
from xml.etree import ElementTree

import pytest

from fakes.files import as_nobody
from fakes.trees import plant, plant_chain, plant_names, scratch
from marid.core.errors import EXIT_STATUS, MaridError
from marid.launch.start import run
from marid.text.display import unquote_path

CANARY = b"canary-4711-must-never-be-shown"
FAMILIES = {0, *EXIT_STATUS.values()} - {EXIT_STATUS[MaridError.code]}
GIGABYTES = 5 << 30

NAMES = [
    *(b"a", b"b.py", b"c.md", b"build", b"node_modules", b".env", b"x.log", b"src", b"README", b"package-lock.json"),
    *(b"a\nb", b"\r", b"\t", b"\x1b[2J", b"\x7f\x01", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b" ", b"  x ", b"-rf"),
    *(b"--output=x", b'"', b'"quoted"', b"'", b"`", b"```", b"<a>", b"]]>", b"&amp;", b"\\", b"\\n", b"*", b"?"),
    *(b"[", b"!x", b"#x", b"~", b"$(x)", b"File: forged", b"=" * 80, b"x" * 255, "é".encode() * 120),
    *("e\u0301".encode(), "\u202egnp.exe".encode(), "😀".encode(), b"...", b"..x", b".a", b"con", b"{}", b"%s"),
    *(b"{0}", b"diff"),
]
RULE_FILES = [b".contextfiles", b".gitignore", b".ignore"]
CONTENTS = [
    *(b"", b"text\n", b"no newline", b"\r\n\r", b"\0", b"a\0b", b"x" * 9000 + b"\0", b"\xff\xfea\0"),
    *(b"\xff\xfe\0\xd8", b"\xef\xbb\xbfx", b"caf\xe9", b"\x81\x8d", b"\xed\xa0\x80", b"]]>\x0b\x0c\x1f"),
    *(b"```\n````\n", b"File: x\nSize: 1 bytes\n" + b"=" * 80 + b"\n\n", "\ufffe\uffff\u2028\x85".encode()),
    *(b"def f():\n    return 1\n" * 50, b"key = 'AKIA" + b"Q" * 16 + b"'\n", b"</file>\n</context>\n"),
]
RULES = [
    *(b"!*", b"*", b"a", b"!a", b"*.py", b"!*.log", b"**/**", b"/", b"!", b"[", b"\\", b"a/**/b", b"!build/"),
    *(b"build/**", b"src/", b"\xff*", b"[\xff-\xfe]", b"[[:alpha:]]", b"[[:x", b"*a" * 100, b"?" * 400),
    *(b"**/" * 300 + b"a", b"a" * 9000, b"\0", b"\x1b", b" ", b"#"),
]
OPTIONS: list[list[str]] = [
    *([], ["--format", "xml"], ["--format", "json"], ["--format", "markdown"], ["-l"], ["-l", "-0"]),
    *(["-l", "--format", "json"], ["--tree"], ["-n"], ["--with-tree", "--format", "xml"], ["--with-tree"]),
    *(["--no-defaults", "--format", "json"], ["--no-gitignore", "-l"], ["--no-defaults", "-l"]),
    *(["--no-mask", "--format", "xml"], ["-q"]),
]


@dataclass(kw_only=True)
class Tree:
    """One hostile tree below `top`, beside `outside`, which holds the canary."""

    rng: random.Random
    place: str
    sockets: list[socket.socket] = field(default_factory=list[socket.socket])
    paths: list[bytes] = field(default_factory=list[bytes])

    @property
    def top(self) -> str:
        return f"{self.place}/top"

    def grow(self) -> None:
        outside = f"{self.place}/outside"
        plant_names(self.place, "top/", "outside/deep/")
        for name in ("canary.txt", "deep/canary.py", ".gitignore", "info/exclude"):
            os.makedirs(os.path.dirname(f"{outside}/{name}"), exist_ok=True)
            with open(f"{outside}/{name}", "wb") as file:
                file.write(CANARY + b"\n")
        folders = [os.fsencode(self.top)]
        for _ in range(self.rng.randrange(4, 30)):
            at = os.path.join(self.rng.choice(folders), self.rng.choice(NAMES))
            with suppress(OSError):
                self._make(at, folders)
                self.paths.append(at)
        for _ in range(self.rng.randrange(3)):
            at = os.path.join(self.rng.choice(folders), self.rng.choice([*RULE_FILES, b".git"]))
            with suppress(OSError):
                self._make_rules(at)
        if self.rng.random() < 0.05:
            plant_chain(self.top, self.rng.choice(["d", "d" * 200]), 300, {"x.txt": "deep\n"})
        for at in self.rng.sample(self.paths, min(len(self.paths), 2)):
            if not os.path.islink(at):
                os.chmod(at, self.rng.choice([0, 0o111, 0o444]))

    def _make(self, at: bytes, folders: list[bytes]) -> None:
        kind = self.rng.choices(["file", "folder", "link", "special", "sparse"], [50, 25, 12, 8, 2])[0]
        if kind == "folder":
            os.mkdir(at)
            folders.append(at)
        elif kind == "link":
            self._link(at)
        elif kind == "special":
            self._special(at)
        else:
            self._file(at, self.rng.choice(CONTENTS) * self.rng.choice([1, 1, 1, 30]))
            if kind == "sparse":
                os.truncate(at, GIGABYTES)
                if self.rng.random() < 0.5:
                    self._file(at, b"looks like text\n" * 1000, flags=os.O_WRONLY)

    def _file(self, at: bytes, content: bytes, flags: int = os.O_WRONLY | os.O_CREAT | os.O_EXCL) -> None:
        fd = os.open(at, flags)
        os.write(fd, content)
        os.close(fd)

    def _link(self, at: bytes) -> None:
        inside = [".", "..", "a", self.top, os.fsdecode(at), "/proc/self/root", "/dev/zero", "/dev/stdin"]
        outside = [
            f"{self.place}/outside",
            f"{self.place}/outside/canary.txt",
            "../outside/canary.txt",
            "../../outside",
        ]
        os.symlink(os.fsencode(self.rng.choice(inside + outside)), at)

    def _special(self, at: bytes) -> None:
        if self.rng.random() < 0.5 or len(at) > 100:
            os.mkfifo(at)
        else:
            self.sockets.append(socket.socket(socket.AF_UNIX))
            self.sockets[-1].bind(at)

    def _make_rules(self, at: bytes) -> None:
        if at.endswith(b"/.git"):
            self._make_git(at)
            return
        kind = self.rng.randrange(8)
        if kind == 0:
            os.mkdir(at)
        elif kind == 1:
            os.mkfifo(at)
        elif kind == 2:
            os.symlink(os.fsencode(f"{self.place}/outside/.gitignore"), at)
        elif kind == 3:
            self._file(at, self.rng.choice(RULES) + b"\n" + b"x" * (1 << 20))
        elif kind == 4:
            self._file(at, self.rng.randbytes(500))
        else:
            self._file(at, b"\n".join(self.rng.choices(RULES, k=4)))

    def _make_git(self, at: bytes) -> None:
        kind = self.rng.randrange(5)
        outside = os.fsencode(f"{self.place}/outside")
        if kind == 0:
            self._file(
                at, self.rng.choice([b"", b"gitdir: ", b"gitdir: " + outside, b"gitdir: .git", b"gitdir: \0", b"\xff"])
            )
        elif kind == 1:
            os.mkfifo(at)
        elif kind == 2:
            os.symlink(outside, at)
        else:
            os.makedirs(at + b"/info")
            self._file(at + b"/HEAD", b"ref: refs/heads/main\n")
            excludes = self.rng.choice([outside + b"/canary.txt", b"/dev/zero", b"~/x", b"\xff", b'"', b"../.git/HEAD"])
            self._file(
                at + b"/config", b"[include]\npath=config\n[core]\nignorecase\nexcludesFile=" + excludes + b"\n["
            )
            self._file(at + b"/info/exclude", self.rng.choice(RULES))

    def disturb(self, stop: threading.Event) -> None:
        """Swap, remove and change files until told to stop."""
        while not stop.is_set() and self.paths:
            at = self.rng.choice(self.paths)
            with suppress(OSError):
                self.rng.choice([self._vanish, self._swap, self._change])(at)

    def _vanish(self, at: bytes) -> None:
        os.rename(at, os.path.join(os.fsencode(self.place), b"gone-%d" % self.rng.randrange(10**9)))

    def _swap(self, at: bytes) -> None:
        is_folder = os.path.isdir(at) and not os.path.islink(at)
        self._vanish(at)
        outside = f"{self.place}/outside"
        if self.rng.random() < 0.2:
            os.mkfifo(at)
        else:
            os.symlink(outside if is_folder else f"{outside}/canary.txt", os.fsdecode(at))

    def _change(self, at: bytes) -> None:
        if not os.path.islink(at) and os.path.isfile(at):
            os.truncate(at, self.rng.choice([0, 1, 100_000]))


@contextmanager
def hostile_tree(seed: int) -> Generator[Tree, None, None]:
    with scratch() as place:
        tree = Tree(rng=random.Random(seed), place=place)
        try:
            tree.grow()
            yield tree
        finally:
            for one in tree.sockets:
                one.close()


class Hung(BaseException):
    """Nobody catches it on the way."""


@contextmanager
def within(seconds: int) -> Generator[None, None, None]:
    """Nothing may hang."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True, kw_only=True)
class Result:
    code: int
    out: bytes


Marid = Callable[..., Result]


@pytest.fixture
def marid(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Marid]:
    """The program in process; every call is checked for what must never be."""
    with scratch() as home:
        for name in ("HOME", "XDG_CONFIG_HOME", "MARID_HOME"):
            monkeypatch.setenv(name, home)
        monkeypatch.chdir(home)

        def call(*args: str) -> Result:
            capfdbinary.readouterr()
            with within(30):
                code = run(["marid", "context", *args])
            out, err = capfdbinary.readouterr()
            assert code in FAMILIES, (args, code, err)
            assert CANARY not in out
            assert CANARY not in err
            return Result(code=code, out=out)

        warm_up(home, call)
        yield call


def warm_up(home: str, call: Marid) -> None:
    """Everything is imported before rights are dropped: they may be the rights to read the interpreter's files."""
    plant(f"{home}/warm", {f"{number}.py": content for number, content in enumerate(CONTENTS)} | {"d/.gitignore": "é?"})
    for options in OPTIONS:
        call(f"{home}/warm", "--rule", "!é", *options)
    call(f"{home}/nothing")


def parses(options: list[str], out: bytes) -> bool:
    if "xml" in options:
        ElementTree.fromstring(out)
    elif "json" in options:
        json.loads(out)
    return True


def check_tree(seed: int, marid: Marid) -> None:
    with hostile_tree(seed) as tree:
        rng = tree.rng
        rules = [f"--rule={os.fsdecode(rule)}" for rule in rng.choices(RULES, k=rng.randrange(3)) if b"\0" not in rule]
        rights = as_nobody() if rng.random() < 0.5 else nullcontext()
        with rights:
            for options in rng.sample(OPTIONS, 2):
                result = marid(tree.top, *options, *rules)
                assert result.code or parses(options, result.out)
            plain, null = (marid(tree.top, *rules, *options) for options in (["-l"], ["-l", "-0"]))
        assert plain.code == null.code
        raw = [os.fsdecode(path) for path in null.out.split(b"\0")[:-1]]
        assert [unquote_path(os.fsdecode(line)) for line in plain.out.split(b"\n")[:-1]] == raw
        assert [path for path in raw if not is_own_file(tree.top, path)] == []
        written = marid(tree.top, "-o", f"{tree.place}/out.txt", *rules)
        assert written.out == b""
        check_disturbed(tree, marid)


def is_own_file(top: str, path: str) -> bool:
    """A regular file below `top`, with no link on the way, however long its path."""
    *folders, name = path.split("/")
    at = os.open(top, os.O_RDONLY)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        return os.path.isfile(f"/proc/self/fd/{at}/{name}") and not os.path.islink(f"/proc/self/fd/{at}/{name}")
    except OSError:
        return False
    finally:
        os.close(at)


def check_disturbed(tree: Tree, marid: Marid) -> None:
    """While somebody else changes the tree."""
    stop = threading.Event()
    thread = threading.Thread(target=tree.disturb, args=(stop,))
    options = tree.rng.choice(OPTIONS)
    thread.start()
    try:
        result = marid(tree.top, *options)
    finally:
        stop.set()
        thread.join()
    assert result.code or parses(options, result.out)


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_hostile_trees_are_survived(start: int, marid: Marid) -> None:
    for seed in range(start, start + 10):
        check_tree(seed, marid)


@pytest.mark.soak
@pytest.mark.parametrize("start", range(1000, 11_000, 250))
def test_ten_thousand_hostile_trees_are_survived(start: int, marid: Marid) -> None:
    for seed in range(start, start + 250):
        check_tree(seed, marid)
