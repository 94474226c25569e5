from marid.core.context import Level


def test_levels_are_known_by_the_words_of_the_command_line() -> None:
    assert [Level(word) for word in ("full", "outline", "name")] == list(Level)
