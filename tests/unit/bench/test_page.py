"""The page with the figures."""

import pytest
from bench import page


def test_only_the_part_of_its_mark_is_replaced() -> None:
    text = "before\n<!-- x:start -->\nold\n<!-- x:end -->\nafter\n"
    assert page.replace_part(text, "x", "new") == "before\n<!-- x:start -->\nnew\n<!-- x:end -->\nafter\n"
    with pytest.raises(ValueError, match="lacks"):
        page.replace_part(text, "y", "new")


def test_every_mark_that_is_written_to_is_in_the_page() -> None:
    for mark in ("measured", "tools", "conversation"):
        page.replace_part(page.PAGE.read_text("utf-8"), mark, "new")
