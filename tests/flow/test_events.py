import json
import os
import re
from pathlib import Path
from typing import Any, cast

from fakes.dispatcher import ScriptedAsker
from fakes.real_app import RoundRecorder, real_scope, run_prompt, server_flags
from marid.core.event_table import event_record
from marid.core.policy.approval import ApprovalAnswer
from marid.testing import ModelServer, Script, call, say

GOLDEN = Path(__file__).parents[1] / "golden" / "events.jsonl"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{26}\b")
_TIMES = frozenset({"seconds", "expires", "time_ms", "timestamp"})


class Normaliser:
    """Replaces ids by their number and times by 0, so that two runs of the same conversation are equal."""

    def __init__(self, place: Path) -> None:
        self._place = str(place)
        self._ids: dict[str, str] = {}

    def __call__(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            return {key: self(one, key) for key, one in fields.items()}
        if isinstance(value, list | tuple):
            return [self(one) for one in cast("list[Any]", value)]
        if name in _TIMES:
            return 0
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = re.sub(r"\[\d{8}-\d{4}[+-]\d{4}\]", "[DATE]", text.replace(self._place, "PLACE"))
        return _ID.sub(lambda found: self._ids.setdefault(found[0], f"id-{len(self._ids) + 1}"), text)


def test_the_events_of_a_standard_conversation_are_those_that_were_agreed_on(tmp_path: Path) -> None:
    """A prompt, reasoning, one call that a person approves, its result, the answer, usage and fuel."""
    listener = RoundRecorder()
    write = call("write_file", {"path": "notes.txt", "content": "hello\n"})
    turn = say("One moment.", reasoning=["A file is wanted."], signature="c2lnbmVk", calls=[write])
    with ModelServer(Script(steps=[turn, say("Done.")], strict=True)) as server:
        app = real_scope(tmp_path)
        run_prompt(
            app, "Write a note.", listener, ScriptedAsker(ApprovalAnswer.YES), flags=server_flags(server, "anthropic")
        )
    assert (tmp_path / "project" / "notes.txt").read_text() == "hello\n"
    assert [event.sequence for event in listener.events] == list(range(len(listener.events)))
    normalise = Normaliser(tmp_path)
    lines = [json.dumps(normalise(event_record(event))) for event in listener.events]
    if os.environ.get("MARID_GOLDEN") == "1":
        GOLDEN.write_text("\n".join(lines) + "\n")
    assert lines == GOLDEN.read_text().splitlines(), "run `make golden` if the change is wanted"
