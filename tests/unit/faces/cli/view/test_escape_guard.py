"""Text that cannot command the terminal, in whatever fragments it comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.faces.cli.view.escape_guard import EscapeGuard


def made_safe(*fragments: str) -> str:
    safe = EscapeGuard()
    return "".join([*(safe.feed(fragment) for fragment in fragments), safe.end()])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中é\ttab\nline", "plain 中é\ttab\nline"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b1m \x07\x08\x00\x7f", "\\x9b1m \\x07\\x08\\x00\\x7f"),
        ("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"),
        ("a\u2028b\x85c\x0b", "a\\u2028b\\x85c\\x0b"),
        ("a\r\nb\rc\r", "a\nb\\rc\\r"),
        ("a\u00a0b\u3000c", "a\u00a0b\u3000c"),
        ("👨\u200d👩 a\u200db", "👨\u200d👩 a\\u200db"),
        ("é\n\u200d", "é\n\\u200d"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_would_be_obeyed_becomes_visible(text: str, shown: str) -> None:
    assert made_safe(text) == made_safe(*text) == shown


@given(st.text(st.characters(codec=None) | st.sampled_from("\r\n\x1b\u200d\u202e")), st.integers(1, 5))
def test_fragments_make_no_difference(text: str, size: int) -> None:
    assert made_safe(*(text[at : at + size] for at in range(0, len(text), size))) == made_safe(text)
