import pytest

from marid.core.errors import CODES, FAMILIES, MaridError, Outside, Refused


def test_every_family_has_a_code_of_its_own() -> None:
    assert CODES == ("bad_input", "refused", "not_found", "exhausted", "unavailable", "internal")


@pytest.mark.parametrize("family", FAMILIES)
def test_catching_ours_catches_every_family(family: type[MaridError]) -> None:
    with pytest.raises(MaridError, match="what went wrong"):
        raise family("what went wrong")


def test_a_path_outside_is_a_refusal_that_names_it() -> None:
    with pytest.raises(Refused, match="'x' is outside") as caught:
        raise Outside("'x' is outside", "/x")
    assert isinstance(caught.value, Outside)
    assert (caught.value.path, caught.value.code) == ("/x", "refused")
