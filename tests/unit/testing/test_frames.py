"""The parts of a body."""

from marid.testing.frames import Frame, encoded, event


def test_an_event_has_a_name_if_the_protocol_names_events() -> None:
    assert event({"a": 1}) == Frame(data=b'data: {"a":1}\n\n')
    assert event({"a": 1}, name="ping", piece=True) == Frame(data=b'event: ping\ndata: {"a":1}\n\n', piece=True)


def test_characters_are_sent_as_they_are() -> None:
    assert encoded("é") == '"é"'.encode()
