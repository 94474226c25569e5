"""Settings of the store and its errors."""

from marid.core.conversation.records import (
    Conflict,
    ConversationLocked,
    Corrupt,
    LeaseHolder,
    SequenceConflict,
    StorageSettings,
)
from marid.core.errors import BadInput, Unavailable


def test_settings_that_make_no_sense_are_raised_to_the_least_that_does() -> None:
    low = StorageSettings(
        partition_max_entries=0, partition_max_age_seconds=1, partition_max_tokens=-1, bytes_per_token=0
    ).with_minimums()
    assert low[:4] == (1, 60, 1, 1)
    assert StorageSettings().with_minimums() == StorageSettings()


def test_errors_are_of_the_families_and_say_more() -> None:
    assert issubclass(Conflict, BadInput)
    assert issubclass(Corrupt, Unavailable)
    assert ConversationLocked("x", LeaseHolder(pid=7)).holder == LeaseHolder(pid=7)
    assert SequenceConflict("x", 5).sequence == 5
