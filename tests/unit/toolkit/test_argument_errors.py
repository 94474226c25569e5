import pytest

from marid.core.errors import BadInput
from marid.toolkit import argument_errors
from marid.toolkit.argument_errors import check_arguments, quote_value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a\ud800b", "x: invalid text"),
        (["é", "\udfff"], "x: invalid text"),
        ({"\ud800": 1}, "x: invalid text"),
        (float("nan"), "x: must be a finite number"),
        ([float("inf")], "x: must be a finite number"),
        (float("-inf"), "x: must be a finite number"),
        (10**400, "x: the number is out of range"),
        (-(2**60), "x: the number is out of range"),
    ],
)
def test_what_is_no_plain_json_is_refused(value: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        check_arguments({"x": value})


def test_arguments_that_are_too_deep_are_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(BadInput, match="nested too deeply"):
        check_arguments({"x": deep})
    while deep:  # or its end would be as deep
        deep = deep.pop()  # pyright: ignore[reportAssignmentType]


def test_arguments_that_are_too_large_are_refused() -> None:
    half = "x" * (argument_errors.MAX_ARGUMENT_CHARACTERS // 2 + 1)
    check_arguments({"a": half})
    with pytest.raises(BadInput, match="b: larger than 64,000,000"):
        check_arguments({"a": half, "b": [half]})


def test_a_long_value_is_cut_and_a_hostile_one_is_escaped() -> None:
    assert quote_value("x" * 1000) == "'" + "x" * 59 + "…"
    assert quote_value("\u202e\x1b") == "'\\u202e\\x1b'"
