"""`marid resume`: where there is nothing to go on with, it says so."""

from fakes.program import Program


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
