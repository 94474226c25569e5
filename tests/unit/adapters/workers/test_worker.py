"""What comes back from a worker is not trusted: it may have been taken over by what it parsed."""

import os
import pickle

import pytest

from marid.adapters.workers.worker import Worker, WorkerLimits, load_answers
from marid.core.caller import Caller


class Evil:
    """Makes a folder when it is unpickled, by the hand of whoever trusts it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.folder,)


def test_answers_of_plain_values_and_of_our_own_classes_come_back() -> None:
    answers = [("done", {"a": [1, 2.5, None, True, b"x", ("é", frozenset({1}))]}), ("done", Caller(face="cli"))]
    assert load_answers(pickle.dumps(answers)) == answers


@pytest.mark.parametrize(
    "said", [b"", b"garbage", b"\x80\x05", pickle.dumps(Evil("/nowhere/at/all")), pickle.dumps(eval)]
)
def test_what_no_worker_in_its_right_mind_says_is_no_answer(said: bytes) -> None:
    assert load_answers(said) is None


def test_a_function_of_ours_is_no_value_either() -> None:
    assert load_answers(pickle.dumps(load_answers)) is None


def test_nothing_is_run_by_unpickling(tmp_path: object) -> None:
    assert load_answers(pickle.dumps([Evil(f"{tmp_path}/pwned")])) is None
    assert os.listdir(str(tmp_path)) == []


def test_a_worker_is_of_no_use_after_it_was_buried() -> None:
    worker = Worker(WorkerLimits(), {})
    assert worker.ask("os.path", "basename", [(("a/b",), {})], 20) == [("done", "b")]
    worker.dispose()
    assert not worker.alive
