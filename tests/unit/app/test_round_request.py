"""What is said."""

from marid.app.rounds import RoundRequest


def test_nothing_but_the_words_and_the_conversation_need_be_said() -> None:
    saying = RoundRequest(prompt="hi", conversation="c")
    assert (saying.resume, saying.force, saying.lock_timeout, saying.automatic) == (False, "", 0.0, False)
    assert not saying.access.trust
    assert saying.debug == frozenset()
