import pytest

from marid.core.suggestions import close_matches, did_you_mean


def test_close_words_end_a_message_in_one_wording() -> None:
    assert did_you_mean(close_matches("pth", ["path", "patch", "zoo"])) == "; did you mean 'path'?"
    assert did_you_mean(close_matches("pth", ["path", "patch"], 2)) == "; did you mean 'path' or 'patch'?"
    assert did_you_mean(close_matches("pth", [])) == ""


@pytest.mark.parametrize(
    ("word", "known"), [("--tree", "--trust"), ("--nope", "--inspect"), ("username_override", "overrides")]
)
def test_what_merely_resembles_a_word_is_not_suggested(word: str, known: str) -> None:
    assert close_matches(word, [known]) == []


def test_dashes_do_not_make_flags_similar() -> None:
    assert close_matches("--verison", ["--version", "--verbose"]) == ["--version"]


def test_a_hostile_word_costs_little() -> None:
    assert close_matches("x" * 1_000_000, ["x" * 100]) == ["x" * 100]
