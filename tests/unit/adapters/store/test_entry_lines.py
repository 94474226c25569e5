"""Entries as lines."""

import json
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.store.entry_lines import decode_line, encode_line, entry_tokens, number_bad_lines, parse_lines
from marid.core.conversation.entry import Entry
from marid.core.conversation.entry_json import MORE_LINES
from marid.core.errors import BadInput

TEXT = st.text(max_size=20)


def decode(line: bytes, before: int = 0) -> tuple[Entry, int]:
    found = decode_line(line, before)
    assert found is not None
    return found


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OTHERS = st.text(min_size=1, max_size=8).map(lambda name: f"x_{name}")


@given(
    st.tuples(*[TEXT] * 9),
    st.integers(1, 10**12),
    st.integers(0, 10**14),
    st.dictionaries(TEXT, VALUES, max_size=3),
    st.dictionaries(OTHERS, VALUES, max_size=3),
)
def test_an_entry_survives_its_line(
    texts: tuple[str, ...], sequence: int, time_ms: int, metadata: dict[str, object], extra: dict[str, object]
) -> None:
    names = ("entry_type", "content", "sender", "to", "role", "id", "status", "round", "tool_call_id")
    entry = Entry(**dict(zip(names, texts, strict=True)))
    entry = entry._replace(sequence=sequence, time_ms=time_ms, metadata=metadata, extra=extra)
    line = encode_line(entry, 3)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert decode_line(line[:-1]) == (entry, 3)
    assert json.loads(line)["timestamp"] == time_ms // 1000


def test_a_line_of_the_documents_is_read_and_numbered() -> None:
    line = b'{"id":"u","timestamp":1700000000,"from":"a","to":"user","content":"x","entry_type":"m","new":{"a":1}}'
    entry, more = decode(line, 41)
    assert (entry.id, entry.sender, entry.sequence, entry.time_ms, more) == ("u", "a", 42, 1_700_000_000_000, 0)
    assert entry.extra == {"new": {"a": 1}}
    assert json.loads(encode_line(entry))["new"] == {"a": 1}


@pytest.mark.parametrize("time", ["0", "-5", "1e18", '"noon"', "NaN", "null", "1000000000000000000", "[]"])
def test_a_senseless_time_keeps_the_entry_and_the_time(time: str) -> None:
    found = decode(b'{"content":"x","timestamp":%s}' % time.encode())
    assert (found[0].content, found[0].time_ms) == ("x", 0)
    assert json.loads(encode_line(found[0]))["timestamp"] == (None if time == "NaN" else json.loads(time))


@pytest.mark.parametrize(
    ("time", "time_ms"),
    [('"timestamp":7.5', 7500), ('"timestamp":1763300000.5', 1763300000500), ('"time_ms":5000.7,"timestamp":9', 5000)],
)
def test_a_time_with_a_fraction_is_a_time(time: str, time_ms: int) -> None:
    """The defect: such an entry was of 1970, and its line had two times."""
    found = decode(b'{"content":"x",%s}' % time.encode())
    assert (found[0].time_ms, found[0].extra) == (time_ms, {})
    assert json.loads(encode_line(found[0]))["timestamp"] == time_ms // 1000


@pytest.mark.parametrize("time", ["-5", "-0.5", "1e300", '"12"', "null", "true"])
def test_no_field_stands_in_a_line_twice(time: str) -> None:
    line = b'{"id":7,"content":["x"],"metadata":"m","role":1,"timestamp":%s,"new":"\\ud800"}' % time.encode()
    found = decode(line)
    again = encode_line(found[0])
    names: list[str] = []
    json.loads(again, object_pairs_hook=lambda pairs: names.extend(name for name, _ in pairs))
    assert len(names) == len(set(names))
    assert json.loads(again) == {**json.loads(again), **json.loads(line)}
    assert encode_line(decode(again)[0]) == again


def test_known_names_with_senseless_values_survive() -> None:
    found = decode(b'{"id":7,"content":["x"],"metadata":"m","sequence":"s","timestamp":5,"time_ms":"q"}')
    assert found[0].extra == {"id": 7, "content": ["x"], "metadata": "m", "sequence": "s"}
    again = json.loads(encode_line(found[0]))
    assert (again["id"], again["content"], again["metadata"], again["sequence"]) == (7, ["x"], "m", 1)


def test_a_number_that_does_not_grow_is_given_anew() -> None:
    data = b'{"sequence":5}\n{"sequence":5}\n{"sequence":2}\n{}\n{"sequence":20}\n'
    assert [line.entry.sequence for line in parse_lines(data)] == [5, 6, 7, 8, 20]


def test_nobody_else_sets_the_number() -> None:
    entry = Entry(entry_type="m", sequence=3, extra={"sequence": 9, MORE_LINES: 4, "more": 4})
    assert decode_line(encode_line(entry, 2)) == (entry._replace(extra={"more": 4}), 2)


def test_a_mark_of_a_group_that_is_none_belongs_to_somebody_else() -> None:
    found = decode(b'{"marid:more":"x","more":[1],"sequence":null}')
    assert found[0].extra == {"marid:more": "x", "more": [1], "sequence": None}
    assert found[1] == 0


def test_a_number_beyond_all_numbers_is_read_as_nothing_and_can_be_written_again() -> None:
    """The defect: it was read as infinite, which no line can say, and the conversation could not be opened."""
    found = decode(b'{"id":"x","content":"hi","score":1e999,"low":-1e999,"nan":NaN,"half":0.5}')
    assert found[0].extra == {"score": None, "low": None, "nan": None, "half": 0.5}
    assert decode_line(encode_line(found[0])) == found


def test_what_can_be_read_can_be_written_again_however_deep_it_is() -> None:
    """The defect: at some depths a line could be read and not be written."""
    for depth in (10, 190, 198, 199, 200, 201, 300, 900, 975, 980, 983, 985, 990, 1000, 5000):
        for name in ("score", "metadata"):
            inner = "[" * depth + "]" * depth
            found = decode_line(f'{{"id":"x","{name}":{{"a":{inner}}}}}'.encode())
            assert (found is not None) == (depth <= 198)
            if found is not None:
                assert decode_line(encode_line(found[0])) == found


@pytest.mark.parametrize("line", [b'{"a":1}{"b":2}', b"[]", b"1", b"", b"x", b'{"a":', b"[" * 100_000, b"\xff"])
def test_what_is_no_object_is_no_entry(line: bytes) -> None:
    assert decode_line(line) is None


def test_marks_carriage_returns_and_blanks_do_not_matter_and_bad_lines_are_told() -> None:
    data = b'\xef\xbb\xbf{"id":"a"}\r\n\n  \n{"id":"b"}  \n{"id":"c"}{"id":"d"}\n{"id":"e\xe2\x80\xa8\xc2\x85"}'
    bad: list[int] = []
    assert [line.entry.id for line in parse_lines(data, on_bad=bad.append)] == ["a", "b", "e\u2028\x85"]
    assert [data[at:].split(b"\n")[0] for at in bad] == [b'{"id":"c"}{"id":"d"}']
    start = data.index(b'{"id":"b"')
    assert [line.start for line in parse_lines(data, start=start)] == [start, data.rindex(b"\n") + 1]


DEEP = reduce(lambda inner, _: [inner], range(201), list[object]())


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}, DEEP], ids=["nan", "object", "set", "deep"])
def test_what_is_no_json_or_too_deep_is_refused(value: object) -> None:
    for entry in (Entry(entry_type="m", metadata={"x": value}), Entry(entry_type="m", extra={"x": value})):
        with pytest.raises(BadInput, match="cannot be stored"):
            encode_line(entry)


def test_of_many_lines_that_cannot_be_read_the_first_are_numbered() -> None:
    data, numbers = b"{}\n\n" + b"rubbish\n" * 200, list[int]()
    assert len(list(parse_lines(data, on_bad=number_bad_lines(data, numbers.append)))) == 1
    assert numbers == list(range(3, 103))


def test_tokens_are_guessed_from_bytes() -> None:
    contents = {"": 0, "a": 1, "abc": 1, "éé": 2, "\ud800": 1}
    assert {text: entry_tokens(Entry(entry_type="m", content=text), 3) for text in contents} == contents
