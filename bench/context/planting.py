"""The trees in the making: always the same. `python -m bench.context.planting FOLDER` makes those that are missing.

Nothing in the text looks like a key: a file that masking touches shows as altered. A hard link costs a tenth of a new
file, so large trees are many names for fewer files.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.context.trees import BINARY, PRUNED, facts_file, marker, names_file, place

_IGNORED = b"node_modules/\n__pycache__/\n/out*/\n*.gen\n!keep_*.gen\n"
_PRUNED_FOLDERS = ("node_modules", "node_modules", "__pycache__", "out")
_EXTENSIONS = ("py",) * 9 + ("md", "txt", "html", "js", "ts", "css", "json", "po", "c", "rs")
_WORDS = [
    *("self", "value", "name", "path", "index", "result", "request", "response", "model"),
    *("field", "query", "node", "tree", "config", "option", "error", "buffer", "render"),
    *("parse", "select", "filter", "match", "count", "limit", "cache", "state", "event"),
    *("handler", "context", "manager", "session", "widget", "column"),
]
_LINES = {  # and how often each is taken: most source text is ASCII
    "def {0}_{1}(self, {2}, {3}):": 8,
    "    {0} = {1}.{2}_{3}({n})": 8,
    "    # The {0} of a {1} is the {2} of its {3}.": 8,
    "    if {0} is not None and {1}[{n}] != '{2}':": 8,
    "        return {0} + {1} + {2}": 8,
    '    "{0} {1} {2} {3}",': 7,
    '    "{0} {1}", "é ü 日本 {n}",': 1,
    "": 8,
}
# git stores no objects for these trees: an index that names the files is all that `git ls-files` reads.
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@dataclass(kw_only=True)
class Draft:
    """A tree in the making."""

    name: str
    root: str
    random: random.Random
    kept: dict[str, int] = field(default_factory=dict[str, int])
    size: int = 0
    largest: int = 0

    def write(self, path: str, data: bytes) -> None:
        """A file that is not part of the expected output."""
        with open(f"{self.root}/{path}", "wb", buffering=0) as file:
            file.write(data)

    def keep(self, path: str, number: int, body: bytes) -> int:
        """A file that must be in the output; its size."""
        data = marker(self.name, number) + body
        self.write(path, data)
        return self._count(path, number, len(data))

    def keep_link(self, path: str, source: str, number: int, size: int) -> None:
        """One more name of a file that must be in the output."""
        os.link(f"{self.root}/{source}", f"{self.root}/{path}")
        self._count(path, number, size)

    def _count(self, path: str, number: int, size: int) -> int:
        self.kept[path] = number
        self.size += size
        self.largest = max(self.largest, size)
        return size

    def folders(self, count: int, names: Sequence[str]) -> list[str]:
        """Nested folders, at most eight deep, the tree's top first; each is "" or ends with a slash."""
        made = [""]
        while len(made) < count:
            parent = self.random.choice(made[-200:] if self.random.randrange(3) else made)
            if parent.count("/") < 8:
                made.append(f"{parent}{self.random.choice(names)}{len(made):04d}/")
                os.mkdir(f"{self.root}/{made[-1]}")
        return made

    def lines(self, count: int) -> list[bytes]:
        """Text to take file contents from."""
        choose = self.random
        shapes = choose.choices(list(_LINES), list(_LINES.values()), k=count)
        return [
            (shape.format(*choose.choices(_WORDS, k=4), n=choose.randrange(9999)) + "\n").encode() for shape in shapes
        ]

    def prune(self, folders: Sequence[str], count: int) -> None:
        """Folders that defaults or .gitignore leave out: reading them costs time, showing them is wrong."""
        for at in range(20):
            name = _PRUNED_FOLDERS[at % len(_PRUNED_FOLDERS)]
            top = f"out{at}" if name == "out" else f"{self.random.choice(folders)}{name}"
            for part in range(10):
                inner = f"{top}/pack{at}_{part}"
                os.makedirs(f"{self.root}/{inner}")
                self.write(f"{inner}/m0.js", PRUNED + b" var x = 1;\n")
                for copy in range(1, count // 200):
                    os.link(f"{self.root}/{inner}/m0.js", f"{self.root}/{inner}/m{copy}.js")

    def track(self, others: Sequence[str] = ()) -> None:
        """Make it a repository that knows its files, so that `git ls-files` can be the floor."""
        names = [".gitignore", *self.kept, *others]
        index = b"".join(b"100644 %b 0\t%b\0" % (_EMPTY_BLOB, os.fsencode(name)) for name in names)
        subprocess.run(["git", "-C", self.root, "init", "-q"], check=True)
        subprocess.run(["git", "-C", self.root, "update-index", "-z", "--index-info"], input=index, check=True)


def _size_of_a_source_file(choose: random.Random) -> int:
    """Many small files, few large ones, 5 KB on average."""
    return choose.choices(
        (choose.randrange(300, 4000), choose.randrange(4000, 12_000), choose.randrange(12_000, 36_000)), (68, 27, 5)
    )[0]


def _big(draft: Draft) -> None:
    """7,004 text files, 35 MB, with names that hold blanks and non-ASCII letters, and 120 binary files."""
    choose = draft.random
    pool = b"".join(draft.lines(60_000))
    folders = draft.folders(900, ("app", "core", "lib", "tests_unit", "docs", "é ü ", "views", "a b"))
    for number in range(7000):
        size = 1_000_000 if number == 3500 else _size_of_a_source_file(choose)
        start = pool.index(b"\n", choose.randrange(len(pool) - 1_100_000)) + 1
        body = pool[start : pool.index(b"\n", start + size) + 1]
        between = " " if number % 97 == 0 else "_"
        path = f"{choose.choice(folders)}{choose.choice(_WORDS)}{between}{number}.{choose.choice(_EXTENSIONS)}"
        draft.keep(path, number, body.rstrip(b"\n") if number % 50 == 0 else body)
    blobs = [f"{choose.choice(folders)}blob_{number}.bin" for number in range(120)]
    for path in blobs:
        draft.write(path, BINARY + choose.randbytes(8192))
    draft.write(".gitignore", _IGNORED)
    for folder in folders[1:400:20]:
        draft.write(f"{folder}x.gen", PRUNED)
    for folder in folders[2:400:100]:
        number = len(draft.kept)
        draft.keep(f"{folder}keep_{number}.gen", number, b"kept by a negation\n")
    draft.prune(folders, 4000)
    draft.track(blobs)


def _wide(draft: Draft) -> None:
    """100,000 names in 5,000 folders, and 20,000 more in folders to prune."""
    folders = draft.folders(5000, ("pkg", "mod", "unit", "part"))
    _many_names(draft, folders, names=100_000, files=4000)
    draft.write(".gitignore", _IGNORED)
    draft.prune(folders, 20_000)
    draft.track()


def _crowd(draft: Draft) -> None:
    """200,000 names, all of them selected: what grows with the number of files shows here."""
    folders = draft.folders(2000, ("pkg", "mod", "unit", "part"))
    _many_names(draft, folders, names=200_000, files=40_000)


def _many_names(draft: Draft, folders: Sequence[str], *, names: int, files: int) -> None:
    pool = draft.lines(2000)
    first: list[tuple[str, int]] = []
    for at in range(names):
        word, extension = _WORDS[at % len(_WORDS)], _EXTENSIONS[at % len(_EXTENSIONS)]
        path = f"{folders[at % len(folders)]}{word}_{at}.{extension}"
        if at < files:
            start = draft.random.randrange(len(pool) - 10)
            first.append((path, draft.keep(path, at, b"".join(pool[start : start + 1 + at % 9]))))
        else:
            source, size = first[at % files]
            draft.keep_link(path, source, at % files, size)


def _tall(draft: Draft) -> None:
    """24 names of one file of 4 MB: a program that keeps its output in memory shows it."""
    pool = b"".join(draft.lines(20_000))
    body = (pool * (1 + 4_000_000 // len(pool)))[:4_000_000].rpartition(b"\n")[0] + b"\n"
    size = draft.keep("t0.txt", 0, body)
    for at in range(1, 24):
        draft.keep_link(f"t{at}.txt", "t0.txt", 0, size)


def _tiny(draft: Draft) -> None:
    """Three files: what starting costs."""
    for number in range(3):
        draft.keep(f"f{number}.py", number, b"print(1)\n")


MAKERS: dict[str, Callable[[Draft], None]] = {"tiny": _tiny, "tall": _tall, "big": _big, "wide": _wide, "crowd": _crowd}


def make(folder: str, name: str) -> None:
    """Make one tree, unless it exists; an incomplete one is made again."""
    root = place(folder, name)
    if os.path.exists(facts_file(root)):
        return
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    draft = Draft(name=name, root=root, random=random.Random(name))
    MAKERS[name](draft)
    with open(names_file(root), "w", encoding="utf-8") as file:
        json.dump(draft.kept, file)
    facts = {"files": len(draft.kept), "size": draft.size, "largest": draft.largest}
    draft_file = f"{facts_file(root)}.part"
    with open(draft_file, "w", encoding="utf-8") as file:
        json.dump(facts, file)
    os.replace(draft_file, facts_file(root))
    print(f"made {name}: {facts['files']:,} files, {facts['size'] / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    for each in MAKERS:
        make(os.path.abspath(sys.argv[1]), each)
