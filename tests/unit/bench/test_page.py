"""The page with the figures."""

import pytest
from bench import page


def test_only_the_part_of_its_mark_is_written_anew() -> None:
    text = "before\n<!-- x:start -->\nold\n<!-- x:end -->\nafter\n"
    assert page.written_into(text, "x", "new") == "before\n<!-- x:start -->\nnew\n<!-- x:end -->\nafter\n"
    with pytest.raises(ValueError, match="lacks"):
        page.written_into(text, "y", "new")


def test_every_mark_that_is_written_to_is_in_the_page() -> None:
    for mark in ("measured", "tools", "conversation"):
        page.written_into(page.PAGE.read_text("utf-8"), mark, "new")
