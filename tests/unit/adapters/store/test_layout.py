"""Paths below a home, names that are not allowed, and what is known of a conversation."""

import json
from pathlib import Path

import pytest

from marid.adapters.store.layout import ConversationPaths, HomeLayout
from marid.core.conversation.records import ConversationMeta, Corrupt
from marid.core.errors import BadInput


def test_the_files_are_those_of_the_documents() -> None:
    paths = HomeLayout("/h").paths("c")
    assert paths.window == "/h/contexts/c/context.jsonl"
    assert paths.meta == "/h/contexts/c/context_meta.json"
    assert paths.active == "/h/contexts/c/transcript/active.jsonl"
    assert paths.transcript == "/h/contexts/c/transcript"
    assert paths.partitions == "/h/contexts/c/transcript/partitions"
    assert paths.note("todos") == "/h/contexts/c/todos.md"
    assert paths.note("system_prompt") == "/h/contexts/c/system_prompt.md"
    assert paths.note("reflection") == "/h/prompts/reflection.md"
    with pytest.raises(BadInput):
        paths.note("x")


def test_it_comes_back_with_the_fields_of_others(paths: ConversationPaths) -> None:
    known = ConversationMeta(id="i", name="c", title="t", flags={"a": 1}, created_ms=5, archived_ms=6, extra={"x": [1]})
    paths.save_meta(known)
    assert paths.load_meta() == known
    assert json.loads(Path(paths.meta).read_bytes())["createdAt"] == 5


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_one_that_cannot_be_read_is_empty(paths: ConversationPaths, text: str) -> None:
    Path(paths.meta).write_text(text)
    assert paths.load_meta() == ConversationMeta(id="", name="c", extra={})


def test_an_empty_one_may_be_written_again_but_no_damaged_one(paths: ConversationPaths) -> None:
    Path(paths.meta).write_text(" ")
    assert paths.load_meta_strict() == ConversationMeta(id="", name="c", extra={})
    Path(paths.meta).write_text("{")
    with pytest.raises(Corrupt):
        paths.load_meta_strict()


def test_that_of_another_program_tells_when_it_was_made(paths: ConversationPaths) -> None:
    Path(paths.meta).write_text('{"created_at": 7, "last_combined_prompt": "p", "title": 5, "flags": []}')
    known = paths.load_meta()
    assert known.created_ms == 7000
    assert known.extra == {"created_at": 7, "last_combined_prompt": "p", "title": 5, "flags": []}


@pytest.mark.parametrize("number", [10**30, -1, True])
def test_a_number_that_is_no_time_is_none(paths: ConversationPaths, number: int) -> None:
    Path(paths.meta).write_text(json.dumps({"createdAt": number, "lastMessageAt": number, "created_at": number}))
    found = paths.load_meta()
    assert (found.created_ms, found.last_message_ms) == (0, 0)
