"""Which step comes next."""

import threading
from collections.abc import Callable

from marid.testing.faults import rate_limited
from marid.testing.request import Request
from marid.testing.script import Turn, always, say, when
from marid.testing.script_queue import ScriptQueue

Ask = Callable[..., Request]


def test_steps_are_played_in_order_until_there_are_no_more(ask: Ask) -> None:
    book = ScriptQueue([say("a"), rate_limited()])
    assert book.steps_left == 2
    assert [book.next(ask()) for _ in range(3)] == [say("a"), rate_limited(), None]
    book.add(say("b"))
    assert book.next(ask()) == say("b")


def test_a_repeated_script_begins_again(ask: Ask) -> None:
    book = ScriptQueue([say("a"), say("b")], repeat=True)
    assert [book.next(ask()) for _ in range(5)] == [say("a"), say("b"), say("a"), say("b"), say("a")]


def test_steps_for_certain_requests_come_first_and_only_so_often(ask: Ask) -> None:
    book = ScriptQueue([say("other"), when(lambda request: request.model == "m", say("mine"), times=2)])
    assert book.next(ask("openai", {"model": "x"})) == say("other")
    assert [book.next(ask()) for _ in range(3)] == [say("mine"), say("mine"), None]


def test_a_step_may_be_played_for_ever(ask: Ask) -> None:
    book = ScriptQueue([always(say("again"))])
    assert {book.next(ask()) for _ in range(9)} == {say("again")}


def test_only_replies_take_steps_in_order_and_other_kinds_must_be_named(ask: Ask) -> None:
    book = ScriptQueue([say("a"), when(lambda _: True, rate_limited(), kind="models")])
    listing = ask("/v1/models", method="GET")
    assert [book.next(listing), book.next(listing), book.next(ask("/v1/embeddings"))] == [rate_limited(), None, None]
    assert book.steps_left == 1


def test_a_function_reacts_to_the_request(ask: Ask) -> None:
    def react(request: Request) -> Turn:
        return say(request.model)

    book = ScriptQueue([react, when(lambda request: request.model == "x", react)])
    assert book.next(ask("openai", {"model": "x"})) == say("x")
    assert book.next(ask()) == say("m")


def test_threads_never_get_the_same_step(ask: Ask) -> None:
    book, seen, request = ScriptQueue([say(str(number)) for number in range(400)]), list[object](), ask()

    def take() -> None:
        for _ in range(100):
            seen.append(book.next(request))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 400
