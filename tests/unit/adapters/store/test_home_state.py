"""`state.json` and `session.json`."""

import json
from functools import partial
from pathlib import Path

import pytest

from fakes.stores import run_in_threads
from marid.adapters.store.home_state import HomeState
from marid.adapters.store.layout import HomeLayout
from marid.core.conversation.records import Corrupt, CurrentConversation, Expiry


@pytest.fixture
def state(tmp_path: Path) -> HomeState:
    return HomeState(HomeLayout(str(tmp_path)))


def rows(tmp_path: Path) -> list[dict[str, object]]:
    return json.loads((tmp_path / "state.json").read_bytes())["contexts"]


def test_it_follows_the_folders_and_keeps_what_it_knew(state: HomeState, tmp_path: Path) -> None:
    old = {"name": "b", "created_at": 5, "last_activity_at": 6, "destroy_at": 7, "new": True}
    (tmp_path / "state.json").write_text(json.dumps({"contexts": [{"name": "gone"}, old, 5, {}], "other": 1}))
    state.sync(lambda: ["a", "b"], 100)
    first, second = rows(tmp_path)
    assert (first["name"], first["created_at"], first["destroy_at"]) == ("a", 100, 0)
    assert second == old
    assert json.loads((tmp_path / "state.json").read_bytes())["other"] == 1
    assert state.expiries()["b"] == (Expiry(at=7), 6)
    state.forget("b")
    state.forget("b")
    assert [row["name"] for row in rows(tmp_path)] == ["a"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"contexts": 5}'])
def test_one_that_cannot_be_read_counts_as_empty(state: HomeState, tmp_path: Path, text: str) -> None:
    """The defect: it was overwritten, and every expiry in it was lost without a message."""
    (tmp_path / "state.json").write_text(text)
    assert state.expiries() == {}
    problem = state.sync(lambda: ["a"], 1)
    if text in ("{", "[]"):
        assert f"'{tmp_path}/state.json.broken'" in problem
        assert (tmp_path / "state.json.broken").read_text() == text
    else:
        assert problem == "", "only damage is reported"
    assert [row["name"] for row in rows(tmp_path)] == ["a"]
    assert state.sync(lambda: ["a"], 1) == ""


def test_a_session_that_cannot_be_read_is_an_error(state: HomeState, tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text("{")
    with pytest.raises(Corrupt, match=r"session\.json"):
        state.current()


@pytest.mark.parametrize("name", ["../../x", "system", "my project", 5])
def test_what_can_be_no_name_means_nothing_in_a_session(state: HomeState, tmp_path: Path, name: object) -> None:
    (tmp_path / "session.json").write_text(json.dumps({"implied_context": name, "previous_context": name}))
    assert state.current() == CurrentConversation("default", "")
    (tmp_path / "session.json").write_text(json.dumps({"implied_context": "a", "previous_context": name}))
    assert state.switch("b") == CurrentConversation("b", "a")


def test_a_session_keeps_the_fields_of_others(state: HomeState, tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text('{"implied_context": "", "previous_context": null, "x": 1}')
    assert state.current() == CurrentConversation("default", "")
    state.switch("a")
    wanted = {"implied_context": "a", "previous_context": "default", "x": 1}
    assert json.loads((tmp_path / "session.json").read_bytes()) == wanted


def test_many_who_write_at_once_lose_nothing(state: HomeState) -> None:
    run_in_threads(*(partial(state.set_expiry, f"c{n}", Expiry(at=n), n) for n in range(12)))
    assert len(state.expiries()) == 12


def test_a_home_of_the_first_generation_says_elsewhere_which_one_is_meant(state: HomeState, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"current_context": "old", "previous_context": "older", "contexts": []}')
    assert state.current() == CurrentConversation("old", "older")
    state.switch("newer")
    assert state.current() == CurrentConversation("newer", "old")
    (tmp_path / "session.json").unlink()
    (tmp_path / "state.json").write_text('{"current_context": "../x", "previous_context": 5}')
    assert state.current() == CurrentConversation("default", "")
