from marid.core.events import Event, Note, Stream


def test_what_is_emitted_is_numbered_from_nothing() -> None:
    heard: list[Event] = []
    stream = Stream("s1", heard.append)
    stream.emit(Note(text="a"))
    stream.emit(Note(text="b"))
    assert heard == [Event("s1", 0, Note(text="a")), Event("s1", 1, Note(text="b"))]
