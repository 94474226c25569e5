from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.talking import Listener, desk, stored
from marid.app.inboxes import PROMPT, check, waiting
from marid.app.saying import Saying
from marid.core.conversation import Message
from marid.core.errors import BadInput
from marid.core.rounds import End

SAYING = Saying(prompt="", conversation="c", flags={"model": "fake-model"}, resume=True)


def test_conversations_with_messages_are_told(tmp_path: Path) -> None:
    app = desk(tmp_path)
    assert waiting(app) == ()
    memory = app.memory(app.settings)
    memory.conversations.create("b")
    for text in ("one", "two"):
        memory.inbox.send(Message("b", "c", text))
    assert waiting(app) == (("c", 2),)


def test_a_round_is_made_of_messages_and_none_of_an_empty_inbox(tmp_path: Path) -> None:
    model = FakeModel(answer("I have."))
    app = desk(tmp_path, model)
    app.memory(app.settings).inbox.send(Message("b", "c", "Act!"))

    async def main() -> tuple[End | None, End | None]:
        return await check(app, SAYING, Listener()), await check(app, SAYING, Listener())

    first, second = anyio.run(main)
    assert first is not None
    assert (first.text, second) == ("I have.", None)
    assert "[From: b] Act!" in stored(app)[0].content
    assert stored(app)[0].content.endswith(PROMPT)
    assert app.memory(app.settings).conversations.look("c").title == ""


def test_messages_that_a_conversation_knows_already_are_taken_out_and_no_model_is_asked(tmp_path: Path) -> None:
    """The defect: the model was told of messages that stood nowhere."""
    model = FakeModel(answer("I have."))
    app = desk(tmp_path, model)
    inbox = app.memory(app.settings).inbox
    sent = inbox.send(Message("b", "c", "Act!"))
    assert anyio.run(check, app, SAYING, Listener()) is not None
    inbox.send(sent)
    before = stored(app)
    assert anyio.run(check, app, SAYING, Listener()) is None
    assert (len(model.asked), stored(app), inbox.peek("c")) == (1, before, ())


def test_who_was_put_away_cannot_act(tmp_path: Path) -> None:
    app = desk(tmp_path)
    memory = app.memory(app.settings)
    memory.inbox.send(Message("b", "c", "Act!"))
    memory.conversations.archive("c")
    assert (waiting(app), waiting(app, archived=True)) == ((), (("c", 1),))


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        anyio.run(check, desk(tmp_path), Saying(prompt="", conversation="../c"), Listener())
