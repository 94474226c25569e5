import json

from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.store.entry_lines import encode_line
from marid.core.conversation.entry import Entry
from marid.core.conversation.entry_json import MORE_LINES, entry_to_dict

texts = st.text(max_size=8)
tables = st.dictionaries(texts, texts | st.integers(), max_size=3)
entries = st.builds(
    Entry,
    entry_type=texts,
    content=texts,
    sender=texts,
    to=texts,
    role=texts,
    id=texts,
    sequence=st.integers(0, 10**9),
    time_ms=st.integers(0, 10**14),
    status=texts,
    round=texts,
    tool_call_id=texts,
    metadata=tables,
    extra=st.dictionaries(
        texts | st.sampled_from(["sequence", MORE_LINES, "status"]), texts | st.integers(), max_size=3
    ),
)


@given(entries)
def test_an_entry_shows_what_its_line_in_the_transcript_holds(entry: Entry) -> None:
    assert entry_to_dict(entry) == json.loads(encode_line(entry))


def test_what_is_empty_and_optional_is_left_out() -> None:
    fields = entry_to_dict(Entry("message", "hi", "user", "default", id="1", sequence=1, time_ms=2500))
    assert fields == {
        "id": "1",
        "timestamp": 2,
        "from": "user",
        "to": "default",
        "content": "hi",
        "entry_type": "message",
        "sequence": 1,
        "time_ms": 2500,
        "status": "ok",
    }
