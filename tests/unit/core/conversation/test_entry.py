"""Entries and who speaks in them."""

import re
import time
from uuid import RFC_4122, UUID

import pytest

from marid.core.conversation.entry import AGENT, RANDOM_BITS, SYSTEM, USER, Entry, make_id, new_id, role_of


@pytest.mark.parametrize(
    ("entry", "role"),
    [
        (Entry(entry_type="message", sender="alice", to="c"), USER),
        (Entry(entry_type="message", sender="c", to="user"), AGENT),
        (Entry(entry_type="compaction", sender="system", to="c"), SYSTEM),
        (Entry(entry_type="message", sender="user", to="user", role=USER), USER),
    ],
)
def test_the_role_is_what_is_said_else_by_whom_it_is_said_to(entry: Entry, role: str) -> None:
    assert role_of(entry) == role


def test_an_id_is_a_uuid_of_version_7_in_lower_case_that_holds_the_time() -> None:
    before, made, after = time.time_ns(), new_id(), time.time_ns()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made)
    parsed = UUID(made)
    assert (str(parsed), parsed.version, parsed.variant) == (made, 7, RFC_4122)
    assert before // 1_000_000 <= parsed.int >> 80 <= after // 1_000_000


def test_the_12_bits_after_the_version_are_the_fraction_of_the_millisecond() -> None:
    texts = [make_id(1_700_000_000_123_000_000 + nanosecond, 0) for nanosecond in (0, 250_000, 999_999)]
    assert [UUID(text).int >> 64 & 0xFFF for text in texts] == [0, 1024, 4095]


def test_every_random_bit_is_used_and_none_spills_into_the_variant() -> None:
    least, most = (make_id(1_700_000_000_000_000_000, bits) for bits in (0, (1 << RANDOM_BITS) - 1))
    assert (least[19:], most[19:]) == ("8000-000000000000", "bfff-ffffffffffff")


def test_ids_differ_and_sort_in_the_order_of_their_making() -> None:
    made: list[str] = []
    for _ in range(2000):
        made.append(new_id())
        due = time.time_ns() + 500
        while time.time_ns() < due:
            pass
    assert len(set(made)) == 2000
    assert made == sorted(made)
