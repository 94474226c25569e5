"""What was asked, and how it ended."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from marid.core.errors import Exhausted
from marid.testing.request import Request
from marid.testing.request_log import RequestLog

Ask = Callable[..., Request]


def test_requests_are_numbered_and_kept(ask: Ask) -> None:
    ledger = RequestLog()
    for _ in range(2):
        ledger.add(lambda number: replace(ask(), number=number))
    assert [request.number for request in ledger.requests] == [0, 1]
    assert ledger.wait_for(2, 0) == ledger.requests


def test_who_waits_too_long_is_told_what_came(ask: Ask) -> None:
    ledger = RequestLog()
    ledger.add(lambda _: ask())
    with pytest.raises(Exhausted, match="1 of 2 requests came in 0 s"):
        ledger.wait_for(2, 0)
    with pytest.raises(Exhausted, match="request 0 had no end"):
        ledger.wait_for_end(0, 0)


def test_who_waits_is_woken_by_a_request_and_by_an_end(ask: Ask) -> None:
    ledger, seen = RequestLog(), list[object]()

    def watch() -> None:
        seen.append(len(ledger.wait_for(1, 5)))
        seen.append(ledger.wait_for_end(0, 5))

    watcher = threading.Thread(target=watch)
    watcher.start()
    ledger.add(lambda _: ask())
    ledger.record_end(0, "cut")
    watcher.join(30)
    assert seen == [1, "cut"]
