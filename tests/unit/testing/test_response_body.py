"""The parts of a body."""

from marid.testing.response_body import BodyFrame, encode_json, sse_event


def test_an_event_has_a_name_if_the_protocol_names_events() -> None:
    assert sse_event({"a": 1}) == BodyFrame(data=b'data: {"a":1}\n\n')
    assert sse_event({"a": 1}, name="ping", piece=True) == BodyFrame(data=b'event: ping\ndata: {"a":1}\n\n', piece=True)


def test_characters_are_sent_as_they_are() -> None:
    assert encode_json("é") == '"é"'.encode()
