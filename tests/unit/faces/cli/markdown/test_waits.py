"""What is worth a second look."""

from marid.faces.cli.markdown.waits import UntilAny, UntilOther, UntilTicks


def test_one_of_the_wanted_characters_ends_a_wait() -> None:
    wait = UntilAny("<>", 100)
    assert not wait.is_over("abc")
    assert wait.is_over("a>")


def test_enough_characters_end_a_wait() -> None:
    wait = UntilAny("<>", 5)
    assert not wait.is_over("abcd")
    assert wait.is_over("e")


def test_a_run_is_over_with_another_character() -> None:
    wait = UntilOther("*")
    assert not wait.is_over("***")
    assert wait.is_over("*a")


def test_backticks_are_counted_across_fragments() -> None:
    wait = UntilTicks(2)
    assert [wait.is_over(text) for text in ["a`b", "", "`", "``", "x ``` `", "`"]] == [False] * 6
    assert wait.is_over("x")
    assert UntilTicks(2).is_over("a``b")
