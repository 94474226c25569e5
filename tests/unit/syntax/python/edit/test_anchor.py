import pickle
from typing import get_args

from marid.syntax.python.edit.anchor import AnchorType, InsertionAnchor


def test_an_anchor_can_be_sent_to_a_worker() -> None:
    anchor = InsertionAnchor(kind="after", symbol="f")
    assert pickle.loads(pickle.dumps(anchor)) == anchor


def test_an_anchor_at_an_end_of_a_scope_needs_no_name() -> None:
    assert InsertionAnchor(kind="top").symbol == ""


def test_there_are_two_ends_and_two_sides() -> None:
    assert get_args(AnchorType) == ("top", "bottom", "before", "after")
