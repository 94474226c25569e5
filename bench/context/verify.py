"""Verify an output by the markers in the files of the trees.

Runs as `python -m bench.context.verify FORM ROOT OUTPUT`, because it holds the whole output in memory.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from bench.context.trees import BINARY, PRUNED, names_file

FORMS = ("text", "markdown", "xml", "json", "list", "nothing-else")
_MARKER = re.compile(rb"@@file (\d{6}) of [a-z]+@@\n")
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Finding:
    """How many files of the tree are in the output, how many of them byte for byte, and the problems."""

    files: int
    exact: int
    problems: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return not self.problems


def verify(form: str, root: str, output: str) -> Finding:
    """Check that every kept file is there once and unchanged, and no excluded or binary one.

    `nothing-else` checks only for excluded and binary files.
    """
    with open(names_file(root), encoding="utf-8") as file:
        kept: dict[str, int] = json.load(file)
    with open(output, "rb") as file:
        data = file.read()
    if form == "list":
        return _listed(kept, data, root)
    intruders = [f"the output holds {what}" for mark, what in _INTRUDERS if mark in data]
    if form == "nothing-else":
        return Finding(files=len(_MARKER.findall(data)), exact=0, problems=tuple(intruders))
    found = Counter(int(match[1]) for match in _MARKER.finditer(data))
    if form in {"xml", "json"}:
        bodies = _bodies(form, data)
        found = Counter(number for body in bodies if (number := _number(body)) is not None)
        exact = _exact_bodies(kept, root, bodies)
    else:
        exact = _exact_text(kept, root, data)
    return _finding(kept, found, exact, intruders)


_INTRUDERS = ((PRUNED, "the text of an excluded file"), (BINARY, "a binary file"))


def _listed(kept: Mapping[str, int], data: bytes, root: str) -> Finding:
    """Binary files may be listed or not, since only their content shows that they are binary."""
    names = (line.removeprefix("./") for line in data.decode("utf-8", "surrogateescape").split("\n") if line)
    relative = (os.path.relpath(name, root) if name.startswith("/") else name for name in names)
    have = {name for name in relative if not os.path.basename(name).startswith((".git", "blob_"))}
    right = have & set(kept)
    wrong = [f"not listed: {name}" for name in sorted(set(kept) - have)]
    wrong += [f"listed, but excluded: {name}" for name in sorted(have - set(kept))]
    return Finding(files=len(right), exact=len(right), problems=_shortened(wrong))


def _names_by_number(kept: Mapping[str, int]) -> dict[int, list[str]]:
    names: dict[int, list[str]] = {}
    for name, number in kept.items():
        names.setdefault(number, []).append(name)
    return names


def _original(root: str, name: str) -> bytes:
    with open(f"{root}/{name}", "rb") as file:
        return file.read()


def _exact_text(kept: Mapping[str, int], root: str, data: bytes) -> Counter[int]:
    """How often each file's bytes follow its marker."""
    places: dict[int, list[int]] = {}
    for match in _MARKER.finditer(data):
        places.setdefault(int(match[1]), []).append(match.start())
    exact: Counter[int] = Counter()
    for number, names in _names_by_number(kept).items():
        original = _original(root, names[0])
        exact[number] = sum(data.startswith(original, at) for at in places.get(number, ()))
    return exact


def _bodies(form: str, data: bytes) -> list[bytes]:
    """The contents of the files, read by a parser."""
    if form == "json":
        return [entry["content"].encode() for entry in json.loads(data)["files"]]
    from xml.etree import ElementTree  # imported when used: the process that measures imports this module too

    return [(element.text or "").encode() for element in ElementTree.fromstring(data).iter("file")]


def _number(body: bytes) -> int | None:
    match = _MARKER.match(body)
    return int(match[1]) if match else None


def _exact_bodies(kept: Mapping[str, int], root: str, bodies: Iterable[bytes]) -> Counter[int]:
    names = _names_by_number(kept)
    exact: Counter[int] = Counter()
    for body in bodies:
        number = _number(body)
        if number in names and body == _original(root, names[number][0]):
            exact[number] += 1
    return exact


def _finding(kept: Mapping[str, int], found: Counter[int], exact: Counter[int], intruders: list[str]) -> Finding:
    wrong: list[str] = []
    for number, names in _names_by_number(kept).items():
        if exact[number] != len(names) or found[number] != len(names):
            what = "altered" if found[number] == len(names) else "missing" if found[number] < len(names) else "repeated"
            wrong.append(f"{what}: {names[0]} ({exact[number]} of {len(names)} exact)")
    return Finding(files=found.total(), exact=exact.total(), problems=(*intruders, *_shortened(wrong)))


def _shortened(problems: list[str]) -> tuple[str, ...]:
    rest = len(problems) - _SHOWN
    return (*problems[:_SHOWN], f"and {rest} more") if rest > 0 else tuple(problems)


def verify_apart(form: str, root: str, output: str) -> Finding:
    """Verify in a separate process."""
    argv = [sys.executable, "-m", "bench.context.verify", form, root, output]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return Finding(files=0, exact=0, problems=(f"the output cannot be read: {last}",))
    facts = json.loads(done.stdout)
    return Finding(files=facts["files"], exact=facts["exact"], problems=tuple(facts["problems"]))


if __name__ == "__main__":
    print(json.dumps(asdict(verify(*sys.argv[1:4]))))
