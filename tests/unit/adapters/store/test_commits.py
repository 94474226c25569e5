"""Group commit."""

import threading
from collections.abc import Sequence

import pytest

from marid.adapters.store.commits import Commits


def test_who_comes_while_the_disk_is_busy_is_written_together() -> None:
    batches: list[list[int]] = []
    busy, free = threading.Event(), threading.Event()

    def commit(items: Sequence[int]) -> None:
        batches.append(sorted(items))
        busy.set()
        free.wait(30)

    commits = Commits(commit)
    first = threading.Thread(target=commits.submit, args=(0,))
    first.start()
    busy.wait(30)
    rest = [threading.Thread(target=commits.submit, args=(number,)) for number in range(1, 8)]
    for thread in rest:
        thread.start()
    while len(commits._queue) < 7:  # pyright: ignore[reportPrivateUsage]
        threading.Event().wait(0.001)
    free.set()
    for thread in [first, *rest]:
        thread.join()
    assert batches == [[0], [1, 2, 3, 4, 5, 6, 7]]
    commits.submit(8)
    assert batches[-1] == [8]


def test_a_bug_in_the_commit_blocks_nobody() -> None:
    def commit(items: Sequence[str]) -> None:
        if "bad" in items:
            raise ValueError("bug")

    commits = Commits(commit)
    with pytest.raises(ValueError, match="bug"):
        commits.submit("bad")
    commits.submit("good")
