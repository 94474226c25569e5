import pytest

from marid.core.errors import CODES, FAMILIES, BadInput, MaridError, OutsideRoots, Refused, unwrap_group


def test_every_family_has_a_code_of_its_own() -> None:
    assert CODES == ("bad_input", "refused", "not_found", "exhausted", "unavailable", "internal")


@pytest.mark.parametrize("family", FAMILIES)
def test_catching_ours_catches_every_family(family: type[MaridError]) -> None:
    with pytest.raises(MaridError, match="what went wrong"):
        raise family("what went wrong")


def test_a_path_outside_is_a_refusal_that_names_it() -> None:
    with pytest.raises(Refused, match="'x' is outside") as caught:
        raise OutsideRoots("'x' is outside", "/x")
    assert isinstance(caught.value, OutsideRoots)
    assert (caught.value.path, caught.value.code) == ("/x", "refused")


def test_the_only_error_of_a_group_of_tasks_is_the_error() -> None:
    error = BadInput("x")
    assert unwrap_group(ExceptionGroup("tasks", [ExceptionGroup("tasks", [error])])) is error
    both = ExceptionGroup("tasks", [error, error])
    assert unwrap_group(both) is both
    assert unwrap_group(error) is error
