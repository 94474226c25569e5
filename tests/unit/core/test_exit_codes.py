import pytest

from marid.core.errors import CODES, FAMILIES, MaridError
from marid.core.exit_codes import EXIT_STATUS, INTERRUPTED_STATUS, exit_code


def test_every_family_has_an_exit_code_of_its_own() -> None:
    assert set(EXIT_STATUS) == set(CODES)
    assert len({*EXIT_STATUS.values(), INTERRUPTED_STATUS}) == len(EXIT_STATUS) + 1


@pytest.mark.parametrize("family", FAMILIES)
def test_an_error_ends_with_the_code_of_its_family(family: type[MaridError]) -> None:
    assert exit_code(family()) == EXIT_STATUS[family.code]


def test_what_is_not_ours_is_a_bug() -> None:
    assert exit_code(ValueError()) == 70
