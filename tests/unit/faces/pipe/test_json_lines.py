import io
import json
from typing import Any

import anyio
import pytest

from marid.core.caller import Caller
from marid.core.command_events import CommandDone
from marid.core.conversation.entry import Entry
from marid.core.errors import Unavailable
from marid.core.events import Event, Notice, QuestionAsked
from marid.core.round_events import EntryStored
from marid.faces.pipe.json_lines import JsonLineWriter


class Gone(io.RawIOBase):
    """A stream whose reader has gone."""

    def write(self, data: Any) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def wired() -> tuple[JsonLineWriter, io.BytesIO, io.BytesIO]:
    out, err = io.BytesIO(), io.BytesIO()
    return JsonLineWriter(out, err), out, err


def test_results_and_entries_go_to_stdout_one_a_line() -> None:
    wire, out, err = wired()
    wire.write_result("two\nlines", name="x")
    wire.write_entry(Entry("message", "hé", "user", "default", id="1", sequence=1))
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first == {"type": "result", "content": "two\nlines", "name": "x"}
    assert (second["entry_type"], second["content"], second["from"]) == ("message", "hé", "user")
    assert err.getvalue() == b""


def test_what_a_model_thought_is_not_told_and_stays_in_the_entry() -> None:
    wire, out, _ = wired()
    thoughts = {"thoughts": [{"text": "hm", "seal": "s"}]}
    only, more = Entry("message", "a", metadata=thoughts), Entry("message", "b", metadata={**thoughts, "seal": "x"})
    wire.write_entry(only)
    wire.write_entry(more)
    first, second = map(json.loads, out.getvalue().splitlines())
    assert "metadata" not in first
    assert second["metadata"] == {"seal": "x"}
    assert only.metadata == thoughts


def test_events_go_to_stderr() -> None:
    wire, out, err = wired()
    wire.write_event(QuestionAsked("q", "edit", "edit_file"))
    assert json.loads(err.getvalue()) == {"type": "approval", "id": "q", "kind": "edit", "tool": "edit_file"}
    assert out.getvalue() == b""


def test_an_entry_that_a_round_stores_is_a_result() -> None:
    wire, out, err = wired()
    anyio.run(wire.listen, Event("r", 0, Caller(face="json"), EntryStored(Entry("message", "hi", id="1"))))
    assert json.loads(out.getvalue())["entry_type"] == "message"
    assert err.getvalue() == b""


def test_half_of_a_surrogate_pair_breaks_no_line() -> None:
    wire, out, _ = wired()
    wire.write_result("\ud800")
    wire.write_text("\udcff")
    assert out.getvalue() == b'{"type":"result","content":"\\ud800"}\n\\udcff\n'


def test_a_key_that_a_request_brought_is_in_no_event() -> None:
    wire, _, err = wired()
    wire.hide(("sk-canary-1", "sk-canary-12", "k", ""))
    wire.write_event(CommandDone(ok=False, message="refused: sk-canary-12, and k"))
    assert json.loads(err.getvalue())["message"] == "refused: [hidden], and k"


def test_results_that_nobody_takes_are_an_error() -> None:
    wire = JsonLineWriter(Gone(), io.BytesIO())  # pyright: ignore[reportArgumentType]
    with pytest.raises(Unavailable, match="stdout"):
        wire.write_result("x")


def test_a_closed_stdout_is_an_error_and_a_closed_stderr_is_not() -> None:
    wire, out, err = wired()
    out.close()
    err.close()
    wire.write_event(Notice("x"))
    with pytest.raises(Unavailable):
        wire.write_result("x")
