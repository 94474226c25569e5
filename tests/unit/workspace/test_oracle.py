"""The fast matcher equals a slow, obvious one, written from the rules guide and sharing no code with it."""

import os
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from fakes.trees import CountingWalker, Rules, paths_of, plant, plant_names, scratch
from marid.workspace.rules.ignore_files import UserGitFiles

DEFAULTS = (
    "build/",
    "*.log",
    ".git",
    ".contextfiles",
)  # those of the built-in defaults that can match a name used here


@dataclass(frozen=True)
class Line:
    """One rule, read again from its text at each use."""

    text: str

    @property
    def marked(self) -> bool:
        return self.text.startswith("!")

    @property
    def pattern(self) -> str:
        return self.text.removeprefix("!")

    @property
    def folders_only(self) -> bool:
        return self.pattern.endswith("/")

    @property
    def plain(self) -> bool:
        words = self.pattern.strip("/").split("/")
        named = [word for word in words if word != "**"] if words[0] == "**" == "/".join(set(words[:-1])) else words
        return not set("*?[") & set("".join(named))

    def matches(self, path: str, *, folder: bool) -> bool:
        """`path` is relative to where the rule stands."""
        if self.folders_only and not folder:
            return False
        words = self.pattern.rstrip("/").split("/")
        if len(words) == 1:
            return _fits(words[0], path.split("/")[-1])
        return _fits_path([word for word in words if word], path.split("/"))


def _fits_path(words: list[str], names: list[str]) -> bool:
    if not words:
        return not names
    if words[0] == "**":
        if len(words) == 1:
            return bool(names)
        return any(_fits_path(words[1:], names[start:]) for start in range(len(names) + 1))
    return bool(names) and _fits(words[0], names[0]) and _fits_path(words[1:], names[1:])


def _fits(word: str, name: str) -> bool:
    if not word:
        return not name
    if word[0] == "*":
        return _fits(word[1:], name) or (bool(name) and _fits(word, name[1:]))
    if not name:
        return False
    if word[0] == "[":
        inside, _, rest = word[1:].partition("]")
        return (name[0] in inside.lstrip("!")) != inside.startswith("!") and _fits(rest, name[1:])
    return word[0] in ("?", name[0]) and _fits(word[1:], name[1:])


def _in_bytes(text: str) -> str:
    """git's `?` is one byte."""
    return text.encode().decode("latin-1")


def _above(path: str) -> list[str]:
    """The folders that hold `path`, nearest first, the top (empty) last."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, -1, -1)]


def _below(path: str, folder: str) -> str:
    return path[len(folder) + 1 :] if folder else path


@dataclass(frozen=True, kw_only=True)
class World:
    """A tree with rules in every place."""

    files: dict[str, str]
    inline: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    defaults: bool = True
    seen: dict[tuple[str, bool], bool] = field(default_factory=dict[tuple[str, bool], bool])

    def lines(self, *place: str) -> list[Line]:
        text = self.files.get("/".join(part for part in place if part), "")
        return [Line(line) for line in text.split("\n") if line]

    def included(self, path: str, *, folder: bool) -> bool:
        """Whether a file is in, or whether a folder is not excluded from outside."""
        if (path, folder) not in self.seen:
            self.seen[path, folder] = self._decide(path, folder=folder)
        return self.seen[path, folder]

    def _decide(self, path: str, *, folder: bool) -> bool:
        if not path:
            return True
        for base, lines in self._context_sources(path):
            verdict = _context_verdict(lines, base, path, folder=folder)
            if verdict is not None:
                return verdict
        return all(self._spared(step, folder=folder or step != path) for step in (*reversed(_above(path)[:-1]), path))

    def _context_sources(self, path: str) -> Iterator[tuple[str, list[Line]]]:
        yield "", [Line(text) for text in self.inline]
        for base in _above(path):
            if self.included(base, folder=True):
                yield base, self.lines(base, ".contextfiles")
        yield "", [Line(text) for text in self.config]

    def _spared(self, path: str, *, folder: bool) -> bool:
        """Whether the ignore files leave this one path alone, whatever they say about those above it."""
        for base, lines in self._ignore_sources(path):
            inside = _in_bytes(_below(path, base))
            matching = [line for line in lines if Line(_in_bytes(line.text)).matches(inside, folder=folder)]
            if matching:
                return matching[-1].marked
        return True

    def _ignore_sources(self, path: str) -> Iterator[tuple[str, list[Line]]]:
        for base in _above(path):
            yield base, self.lines(base, ".ignore")
            yield base, self.lines(base, ".gitignore")
            if f"{base}/.git/HEAD".lstrip("/") in self.files:
                yield base, self.lines(base, ".git/info/exclude")
                yield base, [Line(text) for text in self.excludes]
                break
        if self.defaults:
            yield "", [Line(text) for text in DEFAULTS]

    def folders(self) -> set[str]:
        return {folder for path in self.files for folder in _above(path)}

    def anything_includes(self) -> bool:
        """Whether any context rule includes anything, so that an excluded folder may have to be opened."""
        near = [line for folder in self.folders() for line in self.lines(folder, ".contextfiles")]
        return not all(line.marked for line in [*near, *map(Line, (*self.inline, *self.config))])


def _context_verdict(lines: list[Line], base: str, path: str, *, folder: bool) -> bool | None:
    def spelled(text: str) -> str:
        return unicodedata.normalize("NFC", text)

    lines = [Line(spelled(line.text)) for line in lines]
    own = {line for line in lines if line.matches(spelled(_below(path, base)), folder=folder)}
    inherited = {
        line
        for step in _above(path)
        if len(step) > len(base)
        for line in lines
        if line.matches(spelled(_below(step, base)), folder=True)
    }
    matching = own | inherited
    excluding = {line for line in matching if line.marked}
    named = {line for line in own if not line.marked and line.plain and not line.folders_only}
    if named and not folder and not any(line.plain for line in excluding):
        return True
    if excluding:
        return False
    return True if matching else None


# One tree for all examples, full of what the rules can meet.
FOLDERS = [
    "",
    *("/".join(names) for depth in (1, 2) for names in product(("a", "b", "build"), repeat=depth)),
    *("a/b/a", "a/build/b", "b/b/b", "b/a/build", "build/a/b"),
]
FILES = ["f", "ab", "x.log", "é", "e\u0301"]
TREE = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in FILES[: 5 - folder.count("/")]]

_name = st.sampled_from(["a", "b", "build", "f", "ab", "x.log", "é"])
_word = st.one_of(_name, st.sampled_from(["*", "*.log", "?", "a*", "[ab]", "[!a]*", "b*", "**"]))
_words = st.one_of(st.lists(_name, min_size=1, max_size=4), st.lists(_word, min_size=1, max_size=3))


def _joined(mark: str, anchor: str, words: list[str], end: str) -> str:
    return mark + anchor + "/".join(words) + end


_rule = st.builds(
    _joined, st.sampled_from(["", "!"]), st.sampled_from(["", "", "/"]), _words, st.sampled_from(["", "", "/"])
)
_few = st.one_of(st.just([]), st.lists(_rule, min_size=1, max_size=4))
_some = st.lists(_rule, min_size=1, max_size=5)
_kind = st.sampled_from([".contextfiles", ".contextfiles", ".gitignore", ".ignore", ".git/info/exclude"])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Rules everywhere, rule files and repositories in any folder."""
    files = dict.fromkeys(TREE, "")
    places = st.tuples(st.sampled_from(FOLDERS[:13]), _kind, _some)
    for folder, kind, rules in draw(st.lists(places, min_size=1, max_size=5)):
        files[f"{folder}/{kind}".lstrip("/")] = "\n".join(rules)
        if kind == ".git/info/exclude":
            files[f"{folder}/.git/HEAD".lstrip("/")] = ""
    return World(
        files=files,
        inline=tuple(draw(_few)),
        config=tuple(draw(_few)),
        excludes=tuple(draw(_few)),
        defaults=draw(st.booleans()),
    )


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    """The tree is made once; an example adds its rule files and takes them away."""
    with scratch() as made:
        plant_names(os.path.join(made, "top"), *TREE)
        yield made


def check(world: World, place: str) -> None:
    top = os.path.join(place, "top")
    plant(place, {"excludes": "\n".join(world.excludes)})
    plant(top, {path: text for path, text in world.files.items() if path not in TREE})
    rules = Rules(
        inline=world.inline,
        config="\n".join(world.config),
        defaults=world.defaults,
        user=UserGitFiles(excludes=os.path.join(place, "excludes")),
    )
    try:
        walker = CountingWalker(top, rules.ruling())
        found = paths_of(walker.walk())
    finally:
        for folder in FOLDERS:
            shutil.rmtree(os.path.join(top, folder, ".git"), ignore_errors=True)
        for path in {*world.files} - {*TREE}:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(top, path))
    assert len(found) == len(set(found))
    assert set(found) == {path for path in world.files if world.included(path, folder=False)}
    if not world.anything_includes():
        event("nothing may be opened in vain")
        assert walker.listed == sum(world.included(folder, folder=True) for folder in world.folders())


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds())
def test_a_walk_selects_what_the_obvious_matcher_selects(world: World, place: str) -> None:
    check(world, place)


@pytest.mark.soak
@settings(max_examples=8_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds())
def test_many_walks_select_what_the_obvious_matcher_selects(world: World, place: str) -> None:
    check(world, place)
