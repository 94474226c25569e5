from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.real_app import RoundRecorder, real_scope, stored_entries
from marid.app.inboxes import INBOX_PROMPT, inbox_counts, run_inbox_round
from marid.app.rounds import RoundRequest
from marid.core.conversation.records import InboxMessage
from marid.core.errors import BadInput
from marid.core.round_events import RoundEnd

SAYING = RoundRequest(prompt="", conversation="c", resume=True)


def test_conversations_with_messages_are_told(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    assert inbox_counts(scope) == ()
    memory = scope.stores
    memory.conversations.create("b")
    for text in ("one", "two"):
        memory.inbox.send(InboxMessage("b", "c", text))
    assert inbox_counts(scope) == (("c", 2),)


def test_a_round_is_made_of_messages_and_none_of_an_empty_inbox(tmp_path: Path) -> None:
    model = FakeModel(answer("I have."))
    scope = real_scope(tmp_path, model, {"MARID_MODEL": "fake-model"})
    scope.stores.inbox.send(InboxMessage("b", "c", "Act!"))

    async def main() -> tuple[RoundEnd | None, RoundEnd | None]:
        return await run_inbox_round(scope, SAYING, RoundRecorder()), await run_inbox_round(
            scope, SAYING, RoundRecorder()
        )

    first, second = anyio.run(main)
    assert first is not None
    assert (first.text, second) == ("I have.", None)
    assert "[From: b] Act!" in stored_entries(scope)[0].content
    assert stored_entries(scope)[0].content.endswith(INBOX_PROMPT)
    assert scope.stores.conversations.get_meta("c").title == ""


def test_messages_that_a_conversation_knows_already_are_taken_out_and_no_model_is_asked(tmp_path: Path) -> None:
    """The defect: the model was told of messages that stood nowhere."""
    model = FakeModel(answer("I have."))
    scope = real_scope(tmp_path, model, {"MARID_MODEL": "fake-model"})
    inbox = scope.stores.inbox
    sent = inbox.send(InboxMessage("b", "c", "Act!"))
    assert anyio.run(run_inbox_round, scope, SAYING, RoundRecorder()) is not None
    inbox.send(sent)
    before = stored_entries(scope)
    assert anyio.run(run_inbox_round, scope, SAYING, RoundRecorder()) is None
    assert (len(model.asked), stored_entries(scope), inbox.peek("c")) == (1, before, ())


def test_who_was_put_away_cannot_act(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    memory = scope.stores
    memory.inbox.send(InboxMessage("b", "c", "Act!"))
    memory.conversations.archive("c")
    assert (inbox_counts(scope), inbox_counts(scope, archived=True)) == ((), (("c", 1),))


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        anyio.run(run_inbox_round, real_scope(tmp_path), RoundRequest(prompt="", conversation="../c"), RoundRecorder())
