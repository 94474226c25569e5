import json
import os
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.real_app import add_messages
from marid.bootstrap.wiring import open_request
from marid.core.conversation.records import InboxMessage
from marid.faces.cli.commands.rounds import say


def test_words_are_said_even_if_the_first_is_a_command(marid: Program) -> None:
    done = marid("say", "tools", "are", "nice")
    assert (done.code, "offline" in done.text.lower()) == (0, True)


def test_the_command_itself_says_them_in_the_conversation_that_is_named(marid: Program) -> None:
    with say.make_context("say", ["-C", "other", "tools", "are", "nice", "--raw"], obj=open_request) as ctx:
        assert say.invoke(ctx) == 0
    scope = open_request()
    assert [meta.name for meta in scope.stores.conversations.list()] == ["other"]


def test_the_help_tells_how_to_end_it(marid: Program) -> None:
    with say.make_context("say", [], resilient_parsing=True) as ctx:
        assert "Ctrl-C" in say.get_help(ctx)


def test_a_round_that_came_to_its_end_is_not_gone_on_with(marid: Program) -> None:
    assert marid("say", "hello").code == 0
    done = marid("resume")
    assert (done.code, done.out) == (0, b"")
    assert "nothing to resume" in done.err


def test_a_conversation_may_be_named(marid: Program) -> None:
    assert marid("-C", "other", "say", "hello").code == 0
    done = marid("resume", "other")
    assert (done.code, done.out) == (0, b"")
    assert "nothing to resume" in done.err


def test_a_wrong_name_is_refused(marid: Program) -> None:
    assert marid("resume", "../other").code == 2


@pytest.fixture
def sent(marid: Program) -> Program:
    """`one` has a message."""
    scope = open_request()
    memory = scope.stores
    memory.conversations.create("one")
    memory.inbox.send(InboxMessage(sender="two", to="one", content="Look\nat \x1b[2J", timestamp=1_000_000_000))
    return marid


def test_looking_shows_what_waits_and_takes_nothing_out(sent: Program) -> None:
    for args in (("one",), ("--all",)):
        done = sent("inbox", "--peek", *args)
        assert done.code == 0
        head, *lines = done.lines
        assert head.startswith("one  2001-09-")
        assert head.endswith("[From: two]")
        assert lines == ["    Look", "    at \\x1b[2J"]


def test_a_program_may_look_too(sent: Program) -> None:
    [message] = json.loads(sent("inbox", "--peek", "--all", "--json").text)
    assert (message["sender"], message["to"], message["content"]) == ("two", "one", "Look\nat \x1b[2J")


def test_where_nothing_waits_it_is_said(sent: Program) -> None:
    done = sent("inbox", "--peek")
    assert (done.code, done.out) == (0, b"")
    assert "no pending messages" in done.err


def test_without_peek_the_conversation_answers(sent: Program) -> None:
    done = sent("inbox", "one")
    assert (done.code, "offline" in done.text.lower()) == (0, True)
    assert "no pending messages" in sent("inbox", "--peek", "one").err


@pytest.mark.parametrize("args", [("--all", "one"), ("--json",)])
def test_flags_that_do_not_go_together_are_refused(sent: Program, args: tuple[str, ...]) -> None:
    done = sent("inbox", *args)
    assert (done.code, done.out) == (2, b"")


def test_a_wrong_name_of_an_inbox_is_refused(sent: Program) -> None:
    assert sent("inbox", "../one").code == 2


def test_whoever_wrote_the_file_cannot_forge_what_is_shown(sent: Program) -> None:
    path = Path(os.environ["MARID_HOME"], "contexts", "one", "inbox.jsonl")
    path.write_text(json.dumps({"from": "x\x1b[2J\nboss", "to": "one", "content": "y", "id": "m", "timestamp": 10**30}))
    done = sent("inbox", "--peek", "one")
    assert (done.code, len(done.lines)) == (0, 2)
    assert done.lines[0].endswith("[From: x\\x1b[2J\\nboss]")


def test_a_message_that_does_not_say_for_whom_it_is_is_shown_with_its_inbox(marid: Program) -> None:
    for name in ("a", "b"):
        add_messages(open_request(), name, "hello")
        Path(os.environ["MARID_HOME"], "contexts", name, "inbox.jsonl").write_text('{"from":"cron","content":"go"}\n')
    lines = marid("inbox", "--peek", "--all").lines
    assert [line.split()[0] for line in lines[::2]] == ["a", "b"]
    assert [one["to"] for one in json.loads(marid("inbox", "--peek", "--all", "--json").text)] == ["a", "b"]
