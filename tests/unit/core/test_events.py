import threading

from marid.core.caller import Caller
from marid.core.events import ContextEvent, Event, EventStream, Notice, WalkProgress

CALLER = Caller(face="test")


def test_events_are_numbered_from_zero_and_carry_their_caller() -> None:
    heard: list[Event[ContextEvent]] = []
    stream = EventStream("s1", CALLER, heard.append)
    stream.emit(Notice(text="a"))
    stream.emit(Notice(text="b"))
    assert heard == [Event("s1", 0, CALLER, Notice(text="a")), Event("s1", 1, CALLER, Notice(text="b"))]


def test_threads_that_emit_at_once_get_numbers_in_the_order_of_delivery() -> None:
    heard: list[Event[ContextEvent]] = []
    stream = EventStream("s1", CALLER, heard.append)

    def emit_many() -> None:
        for number in range(2000):
            stream.emit(WalkProgress(files=number))

    threads = [threading.Thread(target=emit_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.sequence for event in heard] == list(range(8000))
