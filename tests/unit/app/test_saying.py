"""What is said."""

from marid.app.saying import Saying


def test_nothing_but_the_words_and_the_conversation_need_be_said() -> None:
    saying = Saying(prompt="hi", conversation="c")
    assert (saying.resume, saying.force, saying.wait, saying.unsaid) == (False, "", 0.0, False)
    assert not saying.reach.trust
    assert (dict(saying.flags), saying.debug) == ({}, frozenset())
