import pytest

from fakes.context_formats import item
from marid.assembly.formats.format_renderer import format_mtime, missing_newline, name_line


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "1970-01-01 00:00:00"),
        (1_700_000_000.999, "2023-11-14 22:13:20"),
        (-0.5, "1969-12-31 23:59:59"),
        (2.0**40, "36812-02-20 00:36:16"),
    ],
)
def test_a_time_is_shown_in_utc_without_its_fraction(seconds: float, shown: str) -> None:
    assert format_mtime(seconds) == shown


@pytest.mark.parametrize("seconds", [2.0**60, -(2.0**62), 2.0**200])
def test_a_time_that_no_calendar_has_is_the_beginning_of_time(seconds: float) -> None:
    assert format_mtime(seconds) == "1970-01-01 00:00:00"


def test_a_newline_is_supplied_only_where_it_is_missing() -> None:
    assert [missing_newline(body) for body in (b"", b"a", b"a\n")] == [b"\n", b"\n", b""]


def test_a_name_line_cannot_be_forged() -> None:
    assert name_line(item("a\nb", b"12")) == b'"a\\nb" (2 bytes)\n'
