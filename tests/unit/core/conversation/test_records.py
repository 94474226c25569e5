"""Settings of the store and its errors."""

from marid.core.conversation.records import Conflict, ConversationLocked, Corrupt, LeaseHolder, SequenceConflict
from marid.core.errors import BadInput, Unavailable


def test_errors_are_of_the_families_and_say_more() -> None:
    assert issubclass(Conflict, BadInput)
    assert issubclass(Corrupt, Unavailable)
    assert ConversationLocked("x", LeaseHolder(pid=7)).holder == LeaseHolder(pid=7)
    assert SequenceConflict("x", 5).sequence == 5
