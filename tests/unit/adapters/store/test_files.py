"""Files that are replaced as a whole, JSON that other programs may have written, and paths below a home."""

import json
import os
from pathlib import Path

import pytest

from fakes.stores import run_in_threads
from marid.adapters.store import files
from marid.adapters.store.layout import ConversationPaths, HomeLayout
from marid.core.conversation.records import ConversationMeta, Corrupt
from marid.core.errors import BadInput, Unavailable


def test_a_file_is_replaced_as_a_whole_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    files.write_atomic(str(path), b"1")
    files.write_atomic(str(path), b"2", durable=False)
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write_atomic(str(tmp_path / "f"), b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_missing_file_is_none_and_need_not_be_removed(tmp_path: Path) -> None:
    assert files.read_bytes(str(tmp_path / "f")) is None
    files.remove_if_exists(str(tmp_path / "f"))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="symbolic"):
        files.read_bytes(str(tmp_path / "f"))


def test_a_disk_error_says_what_was_being_done() -> None:
    with pytest.raises(Unavailable, match="reading x failed: No room"), files.disk_errors("reading x"):
        raise OSError(28, "No room")
    with pytest.raises(ValueError, match="other"), files.disk_errors("reading x"):
        raise ValueError("other")


def test_a_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        with files.file_lock(str(tmp_path / "l")):
            inside.append(1)
            assert len(inside) == 1
            inside.pop()

    run_in_threads(*[work] * 4)
    assert inside == []


def test_a_pipe_or_a_file_without_end_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", files.MAX_FILE_BYTES + 1)
    for flags in (files.READ_FLAGS, files.APPEND_FLAGS):
        with pytest.raises(OSError, match="not a regular file"):
            files.open_file(str(tmp_path / "pipe"), flags)
        with pytest.raises(OSError, match="larger than 1 GB"):
            files.open_file(str(tmp_path / "large"), flags)


def nested(depth: int) -> object:
    value: object = {}
    for number in range(depth - 1):
        value = [value] if number % 2 else {"a": value, "b": "[" * 1000}
    return value


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    files.check_depth(json.dumps(nested(files.MAX_DEPTH)), nested(files.MAX_DEPTH))
    for text in (json.dumps(nested(files.MAX_DEPTH + 1)), json.dumps(nested(files.MAX_DEPTH + 1)).encode()):
        with pytest.raises(ValueError, match="nested more than 200"):
            files.check_depth(text, 1, nested(files.MAX_DEPTH + 1))


def test_many_brackets_are_not_depth() -> None:
    value: list[object] = ["[{" * 1000, [list[object]() for _ in range(1000)]]
    files.check_depth(json.dumps(value), value)


def test_only_an_object_that_could_be_written_again_is_one() -> None:
    assert files.require_object("f", files.pretty_json({"a": 1})) == {"a": 1}
    assert [files.parse_object(data) for data in (None, b"", b"[]", b"[" * 100_000)] == [None] * 4
    with pytest.raises(Corrupt, match="'f' is not a JSON object"):
        files.require_object("f", b"[]")


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
