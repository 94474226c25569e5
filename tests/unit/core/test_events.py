from marid.core.events import Event, EventStream, Notice


def test_what_is_emitted_is_numbered_from_nothing() -> None:
    heard: list[Event] = []
    stream = EventStream("s1", heard.append)
    stream.emit(Notice(text="a"))
    stream.emit(Notice(text="b"))
    assert heard == [Event("s1", 0, Notice(text="a")), Event("s1", 1, Notice(text="b"))]
