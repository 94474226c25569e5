"""Every error family has its place on every face."""

from marid.core.errors import CODES, FAMILIES, MaridError
from marid.faces.cli.exits import STATUS


def test_every_error_code_has_an_exit_code() -> None:
    assert set(STATUS) == set(CODES)


def test_exit_codes_differ() -> None:
    assert len(set(STATUS.values())) == len(STATUS)


def test_catching_the_root_catches_every_family() -> None:
    assert all(issubclass(family, MaridError) for family in FAMILIES)
