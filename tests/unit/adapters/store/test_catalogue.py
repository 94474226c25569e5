"""Conversations as folders."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from marid.adapters.store.catalogue import FileConversations
from marid.core.conversation import Conflict, Expiry
from marid.core.entry import MESSAGE, Entry
from marid.core.errors import NotFound, Refused, Unavailable


@pytest.fixture
def home(tmp_path: Path) -> FileConversations:
    return FileConversations(str(tmp_path / "home"))


def test_only_the_owner_may_look_in(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    for path in [tmp_path / "home/contexts", *(tmp_path / "home/contexts").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_reading_makes_nothing(home: FileConversations, tmp_path: Path) -> None:
    assert home.list() == ()
    for look in (home.look, home.read, home.open):
        with pytest.raises(NotFound):
            look("c")
    assert not (tmp_path / "home").exists()


def test_a_link_is_refused(home: FileConversations, tmp_path: Path) -> None:
    home.create("real")
    (tmp_path / "home/contexts/c").symlink_to(tmp_path / "home/contexts/real")
    for look in (home.look, home.read, home.open, home.destroy):
        with pytest.raises(Refused):
            look("c")
    assert [meta.name for meta in home.list()] == ["real"]
    with pytest.raises(Conflict):
        home.create("c")
    with pytest.raises(Conflict):
        home.rename("real", "c")


def test_of_many_who_make_the_same_one_succeeds(home: FileConversations) -> None:
    made: list[str] = []

    def work() -> None:
        with suppress(Conflict):
            made.append(home.create("c").id)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [home.look("c").id]
    assert os.listdir(Path(home._layout.contexts)) == ["c"]  # pyright: ignore[reportPrivateUsage]


def test_what_a_crash_left_of_making_and_destroying_goes(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    contexts = tmp_path / "home/contexts"
    for name in (".new-x", ".destroyed-x", ".new-fresh"):
        (contexts / name / "deep").mkdir(parents=True)
    for name in (".new-x", ".destroyed-x"):
        os.utime(contexts / name, (5, 5))
    assert [meta.name for meta in home.list()] == ["c"]
    home.sweep()
    assert sorted(os.listdir(contexts)) == [".new-fresh", "c"]


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    home = FileConversations(str(tmp_path / "home"))
    with pytest.raises(Unavailable, match="making the conversation 'c' failed"):
        home.create("c")
    with pytest.raises(Unavailable, match="reading"):
        home.list()


def test_a_search_leaves_out_what_cannot_be_read(home: FileConversations, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with home.open(name, create=True) as held:
            held.append([Entry(entry_type=MESSAGE, content="word")])
    active = tmp_path / "home/contexts/a/transcript/active.jsonl"
    active.unlink()
    active.mkdir()
    assert [hit.conversation for hit in home.search("word")] == ["b"]


def test_a_rename_does_not_need_a_sound_session(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    (tmp_path / "home/session.json").write_text("{")
    assert home.rename("c", "d").name == "d"


def test_after_a_crash_the_last_time_is_that_of_the_file(home: FileConversations, tmp_path: Path) -> None:
    home.create("c")
    home.expire("c", Expiry(after_inactive=10**9))
    os.utime(tmp_path / "home/contexts/c/transcript/active.jsonl", (2**31, 2**31))
    assert home.look("c").last_message_ms == 2**31 * 1000
    (tmp_path / "home/contexts/c/transcript/active.jsonl").unlink()
    assert home.look("c").last_message_ms == 0
    assert home.sweep() == ()
