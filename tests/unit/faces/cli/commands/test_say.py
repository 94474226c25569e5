"""`marid say`: words, whatever the first one is."""

from fakes.program import Program
from marid.bootstrap.wiring import open_request
from marid.faces.cli.commands.say import command


def test_words_are_said_even_if_the_first_is_a_command(marid: Program) -> None:
    done = marid("say", "tools", "are", "nice")
    assert (done.code, "offline" in done.text.lower()) == (0, True)


def test_the_command_itself_says_them_in_the_conversation_that_is_named(marid: Program) -> None:
    with command.make_context("say", ["-C", "other", "tools", "are", "nice", "--raw"], obj=open_request) as ctx:
        assert command.invoke(ctx) == 0
    scope = open_request()
    assert [meta.name for meta in scope.stores.conversations.list()] == ["other"]


def test_the_help_tells_how_to_end_it(marid: Program) -> None:
    with command.make_context("say", [], resilient_parsing=True) as ctx:
        assert "Ctrl-C" in command.get_help(ctx)
