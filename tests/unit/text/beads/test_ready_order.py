import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.issue_lines import new_id, ready_issues, usual_prefix

NOW = datetime(2026, 5, 6, tzinfo=UTC)


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
    later = issue("p", defer_until="2026-05-06T01:00:00Z")
    assert names(later, issue("c", **needs("p", "parent-child"))) == []
    assert names(issue("p", defer_until="2026-05-06T01:00:00+02:00")) == ["p"]
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


def test_ids_grow_with_their_number() -> None:
    lengths = [len(new_id("x", digests("s"), ["a"] * count)) - 2 for count in (0, 100, 500, 5000, 10**6)]
    assert lengths == [3, 3, 4, 5, 8]


def test_collisions_make_an_id_longer_in_the_end() -> None:
    same = [bytes(32)] * 100
    taken = [f"x-{'0' * length}" for length in range(3, 6)]
    assert new_id("x", same, taken) == "x-000000"
    with pytest.raises(ValueError, match="too few"):
        new_id("x", [], [])


def test_the_prefix_is_that_of_the_others() -> None:
    assert usual_prefix(["bd-1", "my-app-2", "my-app-3.1", "plain"], "folder") == "my-app"
    assert usual_prefix([], "My Project!") == "my-project"
    assert usual_prefix(["plain"], "!!!") == "bd"
