"""Every error family has its place on every face."""

from marid.core.errors import CODES, FAMILIES, MaridError
from marid.core.exit_codes import EXIT_STATUS


def test_every_error_code_has_an_exit_code() -> None:
    assert set(EXIT_STATUS) == set(CODES)


def test_exit_codes_differ() -> None:
    assert len(set(EXIT_STATUS.values())) == len(EXIT_STATUS)


def test_catching_the_root_catches_every_family() -> None:
    assert all(issubclass(family, MaridError) for family in FAMILIES)
