import pytest

from marid.core.errors import CODES, FAMILIES, MaridError


def test_every_family_has_a_code_of_its_own() -> None:
    assert CODES == ("bad_input", "refused", "not_found", "exhausted", "unavailable", "internal")


@pytest.mark.parametrize("family", FAMILIES)
def test_catching_ours_catches_every_family(family: type[MaridError]) -> None:
    with pytest.raises(MaridError, match="what went wrong"):
        raise family("what went wrong")
