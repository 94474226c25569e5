import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.command_output import json_escaped_size, truncate_middle


@given(st.text())
def test_the_size_is_that_of_json_in_its_longest_form(text: str) -> None:
    assert json_escaped_size(text) >= len(json.dumps(text)) - 2
    assert json_escaped_size(text) >= len(json.dumps(text, ensure_ascii=False).encode()) - 2


@pytest.mark.parametrize(
    "text", ["x" * 5_000, "y\n" * 5_000, "\0" * 5_000, "€" * 5_000, "😀" * 5_000, "a" + "\0" * 4_999]
)
def test_what_is_too_long_keeps_its_beginning_and_its_end(text: str) -> None:
    short = truncate_middle(text, max_bytes=4_000)
    head, _, tail = short.partition("\n[... ")
    assert text.startswith(head)
    assert text.endswith(tail.partition(" characters left out ...]\n")[2])
    assert json_escaped_size(short) <= 4_060
    assert len(head) > 150


@given(st.text(max_size=300))
def test_what_fits_stays_as_it_is(text: str) -> None:
    assert truncate_middle(text, max_bytes=json_escaped_size(text)) == text


def test_the_note_counts_what_is_missing() -> None:
    assert truncate_middle("ab" * 1_000, max_bytes=10) == "ababa\n[... 1,990 characters left out ...]\nbabab"
