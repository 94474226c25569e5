"""What is known of a conversation."""

import json
from pathlib import Path

import pytest

from marid.adapters.store import meta
from marid.adapters.store.layout import ConversationPaths, HomeLayout
from marid.core.conversation.records import ConversationMeta, Corrupt


@pytest.fixture
def place(tmp_path: Path) -> ConversationPaths:
    place = HomeLayout(str(tmp_path)).place("c")
    Path(place.folder).mkdir(parents=True)
    return place


def test_it_comes_back_with_the_fields_of_others(place: ConversationPaths) -> None:
    known = ConversationMeta(id="i", name="c", title="t", flags={"a": 1}, created_ms=5, archived_ms=6, extra={"x": [1]})
    meta.save(place, known)
    assert meta.load(place) == known
    assert json.loads(Path(place.meta).read_bytes())["createdAt"] == 5


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_one_that_cannot_be_read_is_empty(place: ConversationPaths, text: str) -> None:
    Path(place.meta).write_text(text)
    assert meta.load(place) == ConversationMeta(id="", name="c", extra={})


def test_an_empty_one_may_be_written_again_but_no_damaged_one(place: ConversationPaths) -> None:
    Path(place.meta).write_text(" ")
    assert meta.load_strict(place) == ConversationMeta(id="", name="c", extra={})
    Path(place.meta).write_text("{")
    with pytest.raises(Corrupt):
        meta.load_strict(place)


def test_that_of_another_program_tells_when_it_was_made(place: ConversationPaths) -> None:
    Path(place.meta).write_text('{"created_at": 7, "last_combined_prompt": "p", "title": 5, "flags": []}')
    known = meta.load(place)
    assert known.created_ms == 7000
    assert known.extra == {"created_at": 7, "last_combined_prompt": "p", "title": 5, "flags": []}


@pytest.mark.parametrize("number", [10**30, -1, True])
def test_a_number_that_is_no_time_is_none(place: ConversationPaths, number: int) -> None:
    Path(place.meta).write_text(json.dumps({"createdAt": number, "lastMessageAt": number, "created_at": number}))
    found = meta.load(place)
    assert (found.created_ms, found.last_message_ms) == (0, 0)
