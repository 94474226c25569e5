import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput, NotFound, Unavailable
from marid.ports.beads import Bead
from marid.text import issue_lines
from marid.text.issue_lines import new_id, ready_issues, usual_prefix

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


def test_only_a_closed_issue_has_a_time_of_closing_and_the_time_of_change_moves_on() -> None:
    closed = issue_lines.with_status(lines({"id": "a-1", "status": "open"}), "a-1", "closed", NOW)
    assert json.loads(closed)["closed_at"] == STAMP
    again = json.loads(issue_lines.with_status(closed, "a-1", "open", NOW))
    assert "closed_at" not in again
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


def issue(name: str, status: str = "open", **more: Any) -> dict[str, Any]:
    return {"id": name, "title": name, "status": status, **more}


def needs(target: str, kind: str = "blocks") -> dict[str, Any]:
    return {"dependencies": [{"issue_id": "x", "depends_on_id": target, "type": kind}]}


def names(*records: dict[str, Any]) -> list[str]:
    return [record["id"] for record in ready_issues(records, NOW)]


@pytest.mark.parametrize(
    "status", ["in_progress", "blocked", "deferred", "closed", "pinned", "hooked", "tombstone", ""]
)
def test_only_open_issues_are_ready(status: str) -> None:
    assert names(issue("a", status), issue("b")) == ["b"]


@pytest.mark.parametrize("more", [{"pinned": True}, {"ephemeral": True}, {"is_template": True}, {"issue_type": "gate"}])
def test_issues_that_are_not_work_are_not_ready(more: dict[str, Any]) -> None:
    assert names(issue("a", **more)) == []


@pytest.mark.parametrize("kind", ["blocks", "conditional-blocks", "waits-for", "conditional_blocks"])
def test_what_waits_for_something_unfinished_is_not_ready(kind: str) -> None:
    assert names(issue("a", **needs("b", kind)), issue("b", "in_progress")) == []
    assert names(issue("a", **needs("b", kind)), issue("b", "closed")) == ["a"]
    assert names(issue("a", **needs("b", kind)), issue("b", "pinned")) == ["a"]


@pytest.mark.parametrize("kind", ["related", "discovered-from", "tracks", "", "parent-child"])
def test_other_edges_hold_nothing_back(kind: str) -> None:
    assert set(names(issue("a", **needs("b", kind)), issue("b"))) == {"a", "b"}


def test_a_target_that_is_nowhere_does_not_hold_but_one_elsewhere_does() -> None:
    assert names(issue("a", **needs("gone"))) == ["a"]
    assert names(issue("a", **needs("external:x"))) == []


@pytest.mark.parametrize("kind", ["parent-child", "parent_child"])
def test_children_wait_with_their_parents(kind: str) -> None:
    blocker, parent = issue("z", "in_progress"), issue("p", **needs("z"))
    child, grandchild = issue("c", **needs("p", kind)), issue("g", **needs("c", kind))
    assert names(blocker, grandchild, child, parent) == []
    assert set(names({**blocker, "status": "closed"}, grandchild, child, parent)) == {"p", "c", "g"}


def test_parents_in_a_circle_end() -> None:
    one, other = issue("a", **needs("b", "parent-child")), issue("b", **needs("a", "parent-child"))
    assert set(names(one, other)) == {"a", "b"}
    later = {"defer_until": "2027-01-01T00:00:00Z"}
    assert names({**one, **later}, other) == []


def test_what_is_put_off_waits_with_its_children() -> None:
    later = issue("p", defer_until="2026-05-06T08:00:00Z")
    assert names(later, issue("c", **needs("p", "parent-child"))) == []
    assert names(issue("p", defer_until="2026-05-06T08:00:00+02:00")) == ["p"]
    assert names(issue("p", defer_until="whenever")) == ["p"]


def test_the_most_urgent_comes_first_then_the_newest() -> None:
    records = [
        issue("old", priority=1, created_at="2026-01-01T00:00:00Z"),
        issue("low", priority=3, created_at="2026-03-01T00:00:00Z"),
        issue("new", priority=1, created_at="2026-02-01T00:00:00Z"),
        issue("top", priority=0),
        issue("plain", created_at="2026-01-01"),
        issue("odd", priority="high"),
    ]
    assert names(*records) == ["top", "new", "old", "plain", "low", "odd"]


@pytest.mark.parametrize("dependencies", [None, "x", 5, [None], [[]], [{}], [{"type": 1, "depends_on_id": []}]])
def test_edges_of_the_wrong_kind_do_no_harm(dependencies: Any) -> None:
    assert names(issue("a", dependencies=dependencies)) == ["a"]


def digests(seed: str) -> Iterator[bytes]:
    for number in range(1000):
        yield hashlib.sha256(f"{seed}{number}".encode()).digest()


@given(st.text(max_size=5))
def test_an_id_is_short_and_new(seed: str) -> None:
    name = new_id("my-app", digests(seed), [])
    assert name.startswith("my-app-")
    assert len(name) == len("my-app-") + 3
    assert name.rpartition("-")[2].isalnum()
    assert new_id("my-app", digests(seed), [name]) != name


def test_ids_grow_with_their_number_and_with_collisions() -> None:
    lengths = [len(new_id("x", digests("s"), ["a"] * count)) - 2 for count in (0, 100, 500, 5000, 10**6)]
    assert lengths == [3, 3, 4, 5, 8]
    same = [bytes(32)] * 100
    taken = [f"x-{'0' * length}" for length in range(3, 6)]
    assert new_id("x", same, taken) == "x-000000"
    with pytest.raises(ValueError, match="too few"):
        new_id("x", [], [])


def test_the_prefix_is_that_of_the_others() -> None:
    assert usual_prefix(["bd-1", "my-app-2", "my-app-3.1", "plain"], "folder") == "my-app"
    assert usual_prefix([], "My Project!") == "my-project"
    assert usual_prefix(["plain"], "!!!") == "bd"
