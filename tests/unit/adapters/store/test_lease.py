"""Who may write."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from fakes.stores import file_size_limit
from marid.adapters.store.lease import Lease, acquire, current_holder
from marid.core.conversation.records import ConversationLocked
from marid.core.errors import NotFound, Unavailable


def taken(path: Path, *, heartbeat: float = 0.0, now: float = 1000.0) -> Lease:
    return acquire(str(path), wait=0.0, heartbeat=heartbeat, clock=lambda: now)


def test_the_file_says_who_has_it(tmp_path: Path) -> None:
    lease = taken(tmp_path / ".lock")
    words = json.loads((tmp_path / ".lock").read_bytes())
    assert words["pid"] == os.getpid()
    assert (words["since"], words["heartbeat"], words["token"]) == (1_000_000, 1_000_000, lease.token)
    found = current_holder(str(tmp_path / ".lock"))
    assert found is not None
    assert (found.pid, found.host, found.token) == (os.getpid(), os.uname().nodename, lease.token)
    lease.release()
    lease.release()
    assert current_holder(str(tmp_path / ".lock")) is None


def test_the_second_is_told_who_was_first(tmp_path: Path) -> None:
    lease = taken(tmp_path / ".lock")
    with pytest.raises(ConversationLocked, match=f"process {os.getpid()} on .* since 1970-01-01 00:16:40 UTC"):
        taken(tmp_path / ".lock")
    (tmp_path / ".lock").write_bytes(b"rubbish")
    with pytest.raises(ConversationLocked, match="by another process"):
        taken(tmp_path / ".lock")
    assert current_holder(str(tmp_path / ".lock")) is not None
    lease.release()


@pytest.mark.parametrize(
    "left",
    [
        b"",
        b"1700000000",
        b"99999999999",
        b"{",
        b"x" * 5000,
        json.dumps({"pid": 1, "host": "elsewhere", "heartbeat": 2**60, "token": 6}).encode(),
        json.dumps({"pid": 1, "host": os.uname().nodename, "start": "0", "token": -4}).encode(),
    ],
    ids=["empty", "seconds", "future", "cut", "long", "elsewhere", "dead"],
)
def test_a_lock_that_nobody_holds_is_taken_over_at_once_whatever_it_says(tmp_path: Path, left: bytes) -> None:
    """Detail 14, as decided: no timestamp keeps anybody out."""
    (tmp_path / ".lock").write_bytes(left)
    assert current_holder(str(tmp_path / ".lock")) is None
    lease = taken(tmp_path / ".lock")
    assert lease.token in (7, 1_000_001)
    lease.check()
    lease.release()


@pytest.mark.parametrize("left", ["kept", "lost", "1700000000", "rubbish"])
def test_tokens_only_grow(tmp_path: Path, left: str) -> None:
    """Even if the file that counts them is lost."""
    path, tokens = tmp_path / ".lock", list[int]()
    for second in range(3):
        lease = taken(path, now=1000.0 + second)
        tokens.append(lease.token)
        lease.release()
        if left != "kept":
            path.unlink() if left == "lost" else path.write_text(left)
    assert tokens == sorted(set(tokens))
    assert left != "kept" or tokens[2] == tokens[0] + 2


def test_clocks_that_jump_change_nothing(tmp_path: Path) -> None:
    lease = taken(tmp_path / ".lock", now=4_000_000_000.0)
    for now in (0.0, 1e10, -5.0):
        with pytest.raises(ConversationLocked):
            taken(tmp_path / ".lock", now=now)
    lease.release()
    taken(tmp_path / ".lock", now=0.0).release()


def test_the_heartbeat_is_written_and_its_thread_ends_at_once(tmp_path: Path) -> None:
    beats = iter(range(10, 10_000))
    others = threading.enumerate()
    lease = acquire(str(tmp_path / ".lock"), wait=0.0, heartbeat=0.001, clock=lambda: next(beats))
    before = json.loads((tmp_path / ".lock").read_bytes())["heartbeat"]
    until = time.monotonic() + 30
    while json.loads((tmp_path / ".lock").read_bytes())["heartbeat"] == before:
        assert time.monotonic() < until
    lease.check()
    lease.release()
    patient = acquire(str(tmp_path / ".lock"), wait=0.0, heartbeat=3600.0)
    begin = time.monotonic()
    patient.release()
    assert time.monotonic() - begin < 30
    assert [thread for thread in threading.enumerate() if thread not in others] == []


def test_a_lock_that_was_taken_by_force_fences_the_old_holder_off(tmp_path: Path) -> None:
    first = taken(tmp_path / ".lock")
    (tmp_path / ".lock").unlink()
    with pytest.raises(Unavailable, match="taken by another process"):
        first.check()
    second = taken(tmp_path / ".lock")
    with pytest.raises(Unavailable, match="taken by another process"):
        first.check()
    second.check()
    (tmp_path / ".lock").write_bytes(b'{"token": 9, "pid": 1, ')
    with pytest.raises(Unavailable, match="taken by another process"):
        second.check()
    first.release()
    with pytest.raises(Unavailable, match="closed"):
        first.check()
    second.release()


def test_a_child_does_not_write_with_its_parents_lease(tmp_path: Path) -> None:
    lease = taken(tmp_path / ".lock")
    lease._pid += 1  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(Unavailable, match="another process"):
        lease.check()
    lease.release()
    assert b'"pid"' in (tmp_path / ".lock").read_bytes()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="'none'"):
        taken(tmp_path / "none" / ".lock")
    assert current_holder(str(tmp_path / "none" / ".lock")) is None


def test_the_words_of_one_who_is_gone_let_nobody_take_the_lock_of_the_next(tmp_path: Path) -> None:
    """The defect: the new holder's name was written a moment too late, and a third saw only that of the dead."""
    dead = taken(tmp_path / ".lock")
    words = (tmp_path / ".lock").read_bytes().replace(f'"pid": {os.getpid()}'.encode(), b'"pid": 1')
    dead.release()
    (tmp_path / ".lock").write_bytes(words)
    third: list[object] = []

    def late() -> None:
        try:
            third.append(taken(tmp_path / ".lock"))
        except ConversationLocked as told:
            third.append(told.holder)

    other = threading.Thread(target=late)

    def slow() -> float:
        if not other.is_alive() and not third:
            other.start()
            other.join(0.2)
        return 1000.0

    lease = acquire(str(tmp_path / ".lock"), wait=0.0, heartbeat=0.0, clock=slow)
    other.join()
    lease.check()
    assert third == [current_holder(str(tmp_path / ".lock"))]
    lease.release()


def test_a_disk_that_is_full_leaves_nobody_locked_out(tmp_path: Path) -> None:
    for left in (b"", b"x" * 5000):
        (tmp_path / ".lock").write_bytes(left)
        with file_size_limit(0), pytest.raises(Unavailable, match="locking"):
            taken(tmp_path / ".lock")
        assert current_holder(str(tmp_path / ".lock")) is None
        taken(tmp_path / ".lock").release()
