"""Names of conversations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.conversation_names import check_conversation_name, is_conversation_name


@given(
    st.from_regex(r"[A-Za-z0-9_-]{1,100}", fullmatch=True).filter(
        lambda x: x not in ("-", "new") and x.lower() != "system"
    )
)
def test_letters_digits_and_two_signs_make_a_name(name: str) -> None:
    assert check_conversation_name(name) == name


@given(st.text(max_size=5))
def test_nothing_that_is_a_name_can_leave_a_folder(name: str) -> None:
    if is_conversation_name(name):
        assert "/" not in name
        assert "." not in name
        assert name.isascii()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "empty"),
        ("x" * 101, "longer than 100"),
        ("a/b", "only letters"),
        ("é", "only letters"),
        ("-", "previous"),
        ("new", "new one"),
        ("System", "reserved"),
        ("\x1b[2J", "only letters"),
    ],
)
def test_the_error_for_a_wrong_name_says_why_and_is_printable(name: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as told:
        check_conversation_name(name)
    assert "\x1b" not in str(told.value)
