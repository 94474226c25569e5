import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput, NotFound, Unavailable
from marid.ports.beads import Bead
from marid.text import issue_lines

NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
STAMP = "2026-05-06T07:08:09.000000Z"


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_issues_are_read_and_memories_are_not() -> None:
    data = lines({"id": "a-1"}, {"_type": "memory", "key": "k"}, {"_type": "issue", "id": "a-2"}) + b"\n  \n"
    assert [(line.number, line.id) for line in issue_lines.parse_issues(data)] == [(0, "a-1"), (2, "a-2")]


@pytest.mark.parametrize(
    "line", [b"<<<<<<< HEAD", b"[1]", b"{", b'"x"', b"[" * 100_000, b"\xff", b"1" * 5000], ids=range(7)
)
def test_a_malformed_line_is_reported_by_number(line: bytes) -> None:
    with pytest.raises(Unavailable, match="line 2 of the issues file"):
        issue_lines.parse_issues(lines({"id": "a-1"}) + line)


def test_what_is_of_the_wrong_kind_is_empty() -> None:
    assert issue_lines.to_bead({"id": 1, "title": ["x"], "status": None}) == Bead(id="", status="", title="")
    assert issue_lines.time_field({"t": 5}, "t") is None


def test_times_have_a_zone() -> None:
    assert issue_lines.time_field({"t": "2026-05-06T07:08:09"}, "t") == NOW
    assert issue_lines.time_field({"t": "2026-05-06T09:08:09+02:00"}, "t") == NOW
    assert issue_lines.time_field({"t": STAMP}, "t") == NOW
    assert issue_lines.format_time(NOW) == STAMP


def test_a_change_of_status_touches_one_line_and_keeps_what_is_unknown() -> None:
    first, third = b'{"id": "a-1",   "odd": 1e3}\n', b'{"id":"a-3"}'
    second = {"zeta": {"b": 1, "a": [None]}, "id": "a-2", "title": "ü", "status": "open", "updated_at": "2020-01-01"}
    after = issue_lines.with_status(first + lines(second) + third, "a-2", "in_progress", NOW)
    changed = after.split(b"\n")
    assert (changed[0] + b"\n", changed[2]) == (first, third)
    record = json.loads(changed[1])
    assert list(record) == ["zeta", "id", "title", "status", "updated_at", "started_at"]
    assert record == {**second, "status": "in_progress", "updated_at": STAMP, "started_at": STAMP}
    assert "ü".encode() in changed[1]


def test_a_closed_issue_has_a_time_of_closing_and_no_other_has() -> None:
    closed = issue_lines.with_status(lines({"id": "a-1", "status": "open"}), "a-1", "closed", NOW)
    assert json.loads(closed)["closed_at"] == STAMP
    again = json.loads(issue_lines.with_status(closed, "a-1", "open", NOW))
    assert "closed_at" not in again


def test_the_time_of_change_moves_on_though_our_clock_is_behind() -> None:
    data = lines({"id": "a-1", "status": "open", "updated_at": "2030-01-01T00:00:00Z"})
    assert (
        json.loads(issue_lines.with_status(data, "a-1", "blocked", NOW))["updated_at"] == "2030-01-01T00:00:00.000001Z"
    )


def test_line_ends_are_kept() -> None:
    data = b'{"id":"a-1","status":"open"}\r\n{"id":"a-2"}\r\n'
    after = issue_lines.with_status(data, "a-1", "blocked", NOW)
    assert after.count(b"\r\n") == 2
    assert after.endswith(b'{"id":"a-2"}\r\n')


def test_an_id_must_be_there_once() -> None:
    data = lines({"id": "a-1", "status": "tombstone"}, {"id": "a-2"}, {"id": "a-2"})
    for name in ("a-1", "a-9"):
        with pytest.raises(NotFound, match=f"no bead '{name}'"):
            issue_lines.with_status(data, name, "open", NOW)
    with pytest.raises(BadInput, match="2 times"):
        issue_lines.with_status(data, "a-2", "open", NOW)


def test_a_new_issue_goes_to_the_end() -> None:
    assert issue_lines.with_issue(b"", {"id": "a"}) == b'{"id":"a"}\n'
    assert issue_lines.with_issue(b'{"id":"b"}', {"id": "a"}) == b'{"id":"b"}\n{"id":"a"}\n'


def test_half_a_pair_and_a_number_without_bounds() -> None:
    assert issue_lines.dump_record({"x": "\ud800"}) == b'{"x":"\\ud800"}'
    with pytest.raises(BadInput):
        issue_lines.dump_record({"x": float("inf")})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=30)
@given(st.dictionaries(st.text(max_size=3).filter(lambda key: key != "id"), VALUES, max_size=4))
def test_whatever_else_an_issue_holds_is_kept(more: dict[str, Any]) -> None:
    after = issue_lines.with_status(lines({**more, "id": "a-1", "status": "open"}), "a-1", "blocked", NOW)
    assert json.loads(after) == {**more, "id": "a-1", "status": "blocked", "updated_at": STAMP}


@pytest.mark.parametrize("title", ["", "  ", "x" * 501, "a\nb", "a\x1bb", "\u202e"])
def test_an_invalid_title_is_refused(title: str) -> None:
    with pytest.raises(BadInput):
        issue_lines.validate_title(title)


def test_a_title_may_begin_like_an_option() -> None:
    assert issue_lines.validate_title(" --force ") == "--force"


@pytest.mark.parametrize("text", ["\0", "\ud800", "ü" * 50_001])
def test_an_invalid_description_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        issue_lines.validate_description(text)
    assert issue_lines.validate_description("a\n\nb") == "a\n\nb"


@pytest.mark.parametrize("name", ["", "-x", "--all", "a b", "a\n", ".x", "x" * 101, "../x"])
def test_an_invalid_id_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        issue_lines.validate_id(name)
    assert issue_lines.validate_id("my-proj-a1b.2") == "my-proj-a1b.2"


def test_an_unknown_status_is_refused() -> None:
    assert issue_lines.validate_status("in_progress") == "in_progress"
    assert issue_lines.validate_status("review", ("open", "review")) == "review"
    for status in ("", "-x", "a b", "x" * 60):
        with pytest.raises(BadInput, match="use one of open, in_progress"):
            issue_lines.validate_status(status)
    with pytest.raises(BadInput, match="use one of open, review"):
        issue_lines.validate_status("closed", ("open", "review"))
