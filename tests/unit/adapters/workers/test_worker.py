"""What comes back from a worker is not trusted: it may have been taken over by what it parsed."""

import os
import pickle

import pytest

from marid.adapters.workers.worker import Worker, WorkerLimits, load_answers
from marid.core.caller import Caller


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.folder,)


def test_answers_of_plain_values_and_of_our_own_classes_come_back() -> None:
    answers = [("done", {"a": [1, 2.5, None, True, b"x", ("é", frozenset({1}))]}), ("done", Caller(face="cli"))]
    assert load_answers(pickle.dumps(answers)) == answers


@pytest.mark.parametrize("message", [b"", b"garbage", b"\x80\x05", pickle.dumps(eval), pickle.dumps(load_answers)])
def test_a_malformed_message_and_functions_are_not_answers(message: bytes) -> None:
    assert load_answers(message) is None


def test_nothing_is_run_by_unpickling(tmp_path: object) -> None:
    assert load_answers(pickle.dumps([Evil(f"{tmp_path}/pwned")])) is None
    assert os.listdir(str(tmp_path)) == []


def test_a_worker_answers_until_it_is_disposed_of() -> None:
    worker = Worker(WorkerLimits(), {})
    assert worker.ask("os.path", "basename", [(("a/b",), {})], 20) == [("done", "b")]
    worker.dispose()
    assert not worker.alive
