"""A program that looks things up in a conversation, and reports how many partitions it opened for each.

It is another process, since an audit hook cannot be removed, and one in Python lets threads switch inside
`sys.settrace`, which then fails in the second one (CPython 3.11). Every thread of a measured run calls that.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from marid.adapters.store.conversations import FileConversations


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """The entries that a look-up found, and how many partitions it read."""

    partitions: int
    contents: list[str]


def look_up(home: Path, questions: Sequence[Mapping[str, object]]) -> list[Lookup]:
    """Look up `{"id": ...}` or `{"words": ..., "whole": ...}` in conversation `c`, one after the other."""
    asked = json.dumps([str(home), *questions])
    command = [sys.executable, __file__]
    done = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return [Lookup(**answer) for answer in json.loads(done.stdout)]


def _main() -> None:
    home, *questions = json.load(sys.stdin)
    opened: list[str] = []

    def hear(event: str, values: tuple[object, ...]) -> None:
        if event == "open":
            opened.append(str(values[0]))

    transcript = FileConversations(home).read("c")
    sys.addaudithook(hear)
    answers: list[Lookup] = []
    for question in questions:
        opened.clear()
        found = (
            [transcript.find(question["id"])]
            if "id" in question
            else list(transcript.search(question["words"], whole_words=question.get("whole", False)))
        )
        partitions = sum("/partitions/" in name and name.endswith(".jsonl") for name in opened)
        answers.append(Lookup(partitions=partitions, contents=[entry.content for entry in found if entry]))
    json.dump([vars(answer) for answer in answers], sys.stdout)


if __name__ == "__main__":
    _main()
