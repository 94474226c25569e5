from marid.core.suggestions import close_matches, did_you_mean


def test_close_words_end_a_message_in_one_wording() -> None:
    assert did_you_mean(close_matches("pth", ["path", "patch", "zoo"])) == "; did you mean 'path'?"
    assert did_you_mean(close_matches("pth", ["path", "patch"], 2)) == "; did you mean 'path' or 'patch'?"
    assert did_you_mean(close_matches("pth", [])) == ""


def test_a_hostile_word_costs_little() -> None:
    assert close_matches("x" * 1_000_000, ["x" * 100]) == ["x" * 100]
