import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fakes.worktree import Canary, Worktree, new_worktree
from marid.adapters.git.clones import CachedClones
from marid.adapters.git.local_git import LocalGit
from marid.adapters.process.programs import ProgramLimits
from marid.core.errors import BadInput, NotFound, Unavailable


@pytest.fixture
def origin(tmp_path: Path) -> Worktree:
    origin = new_worktree(tmp_path, "origin")
    origin.commit("first", {"a.txt": b"one\n"})
    origin.commit("second", {"a.txt": b"two\n"})
    return origin


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def clones(tmp_path: Path, origin: Worktree, notes: list[str]) -> CachedClones:
    return clones_in(tmp_path, origin.env, notes)


def clones_in(
    tmp_path: Path, env: Mapping[str, str], notes: list[str], limits: ProgramLimits | None = None
) -> CachedClones:
    return CachedClones(str(tmp_path / "cache"), env, on_note=notes.append, limits=limits)


def env_with(tmp_path: Path, origin: Worktree, name: str, script: str) -> dict[str, str]:
    """An environment in which a program is replaced by a script."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / name).write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "programs" / name).chmod(0o755)
    return {**origin.env, "PATH": f"{tmp_path}/programs:{origin.env['PATH']}"}


def url_of(origin: Worktree) -> str:
    return f"file://{origin.folder}"


def left_in(cache: Path) -> list[str]:
    return [str(path.relative_to(cache)) for path in cache.rglob("*") if path.name != "clones"]


def test_a_clone_is_shallow_and_in_the_cache(
    tmp_path: Path, origin: Worktree, clones: CachedClones, notes: list[str]
) -> None:
    folder = Path(clones.clone(url_of(origin), None))
    assert folder.name == "origin"
    assert folder.is_relative_to(tmp_path / "cache" / "clones")
    assert (folder / "a.txt").read_bytes() == b"two\n"
    assert origin.git("rev-list", "--count", "HEAD", cwd=folder) == b"1\n"
    assert LocalGit(origin.env).diff(str(folder), None) == b""
    assert LocalGit(origin.env).log(str(folder), 9).count(b"commit ") == 1
    assert notes == []


def test_a_second_use_brings_the_newest(origin: Worktree, clones: CachedClones, notes: list[str]) -> None:
    first = clones.clone(url_of(origin), None)
    Path(first, "a.txt").write_bytes(b"tampered\n")
    origin.git("rm", "--quiet", "a.txt")
    origin.commit("third", {"b.txt": b"three\n"})
    assert clones.clone(url_of(origin), None) == first
    assert sorted(path.name for path in Path(first).iterdir()) == [".git", "b.txt"]
    assert notes == []


def test_history_that_was_rewritten_is_followed(origin: Worktree, clones: CachedClones) -> None:
    folder = clones.clone(url_of(origin), None)
    origin.git("reset", "--hard", "--quiet", "HEAD~")
    clones.clone(url_of(origin), None)
    assert Path(folder, "a.txt").read_bytes() == b"one\n"


def test_branches_and_tags_are_apart(origin: Worktree, clones: CachedClones) -> None:
    origin.git("tag", "v1", "HEAD~")
    origin.git("checkout", "--quiet", "-b", "feature/x")
    origin.commit("third", {"a.txt": b"three\n"})
    origin.git("checkout", "--quiet", "main")
    folders = [clones.clone(url_of(origin), branch) for branch in (None, "main", "feature/x", "v1")]
    assert len(set(folders)) == 4
    assert [Path(folder, "a.txt").read_bytes() for folder in folders] == [b"two\n", b"two\n", b"three\n", b"one\n"]


def test_without_the_remote_the_cached_clone_is_used_with_a_note(
    origin: Worktree, clones: CachedClones, notes: list[str]
) -> None:
    folder = clones.clone(url_of(origin), None)
    origin.path.rename(origin.path.with_name("moved"))
    assert clones.clone(url_of(origin), None) == folder
    assert Path(folder, "a.txt").read_bytes() == b"two\n"
    (note,) = notes
    assert note.startswith(f"{url_of(origin)} cannot be fetched: ")
    assert note.endswith("; the copy in the cache is used")


def test_a_lock_that_a_killed_process_left_is_removed(origin: Worktree, clones: CachedClones, notes: list[str]) -> None:
    folder = Path(clones.clone(url_of(origin), None))
    (folder / ".git" / "index.lock").touch()
    (folder / ".git" / "shallow.lock").touch()
    origin.commit("third", {"a.txt": b"three\n"})
    clones.clone(url_of(origin), None)
    assert (folder / "a.txt").read_bytes() == b"three\n"
    assert notes == []


@pytest.mark.parametrize("damage", ["HEAD", "objects", "refs"])
def test_a_damaged_copy_never_makes_git_work_on_a_repository_further_up(
    tmp_path: Path, origin: Worktree, notes: list[str], damage: str
) -> None:
    around = new_worktree(tmp_path, "around")
    around.commit("first", {"mine.txt": b"mine\n"})
    around.write("mine.txt", b"not committed\n")
    clones = CachedClones(str(around.path / ".cache"), origin.env, on_note=notes.append)
    folder = Path(clones.clone(url_of(origin), None))
    (folder / ".git" / damage).rename(tmp_path / "aside")
    assert clones.clone(url_of(origin), None) == str(folder)
    assert (folder / "a.txt").read_bytes() == b"two\n"
    assert (around.path / "mine.txt").read_bytes() == b"not committed\n"
    assert not (around.path / ".git" / "FETCH_HEAD").exists()
    assert bool(notes) == (damage != "HEAD"), "without a HEAD it is cloned again"


def test_concurrent_clones_get_the_same_complete_folder(tmp_path: Path, origin: Worktree, notes: list[str]) -> None:
    start = threading.Barrier(4)

    def clone(_: int) -> tuple[str, bytes]:
        clones = clones_in(tmp_path, origin.env, notes)
        start.wait()
        folder = clones.clone(url_of(origin), None)
        return folder, Path(folder, "a.txt").read_bytes()

    with ThreadPoolExecutor(4) as pool:
        results = set(pool.map(clone, range(4)))
    ((folder, content),) = results
    assert content == b"two\n"
    assert os.listdir(tmp_path / "cache" / "clones") == [Path(folder).parent.name]
    assert notes == []


def test_a_failed_clone_leaves_nothing(tmp_path: Path, origin: Worktree, clones: CachedClones) -> None:
    with pytest.raises(Unavailable, match=r"file:///no/such cannot be fetched: .*does not appear to be"):
        clones.clone("file:///no/such", None)
    with pytest.raises(NotFound, match="has no branch 'nope'"):
        clones.clone(url_of(origin), "nope")
    with pytest.raises(Unavailable, match="cannot be fetched"):
        clones.clone(url_of(new_worktree(tmp_path, "empty")), None)
    assert left_in(tmp_path / "cache") == []


def test_an_interrupted_clone_leaves_nothing(tmp_path: Path, origin: Worktree, notes: list[str]) -> None:
    interrupt = f"sleep 0.2; kill -INT {os.getpid()}; exec sleep 30"
    real = f'PATH="{origin.env["PATH"]}" exec git "$@"'
    env = env_with(tmp_path, origin, "git", f'case "$*" in *" fetch "*) {interrupt} ;; esac\n{real}')
    clones = clones_in(tmp_path, env, notes)
    with pytest.raises(KeyboardInterrupt):
        clones.clone(url_of(origin), None)
    assert left_in(tmp_path / "cache") == []


def test_a_remote_that_does_not_answer_only_takes_the_time_limit(
    tmp_path: Path, origin: Worktree, notes: list[str]
) -> None:
    env = env_with(tmp_path, origin, "ssh", "exec sleep 30")
    with pytest.raises(Unavailable, match=r"git took longer than 0\.5 s"):
        clones_in(tmp_path, env, notes, ProgramLimits(timeout=0.5)).clone("git@host.invalid:a/b", None)
    assert left_in(tmp_path / "cache") == []


def test_what_killed_runs_left_is_removed_after_a_day(tmp_path: Path, origin: Worktree, clones: CachedClones) -> None:
    place = tmp_path / "cache" / "clones"
    for name in (".unfinished-old", ".unfinished-new"):
        (place / name / "part").mkdir(parents=True)
    os.utime(place / ".unfinished-old", (1, 1))
    clones.clone(url_of(origin), None)
    assert [name for name in os.listdir(place) if name.startswith(".")] == [".unfinished-new"]


@pytest.mark.parametrize(
    "url", ["ext::sh -c x", "--upload-pack=touch x", "https://host/a\n", "ssh://-oProxyCommand=x/a", "a/b"]
)
def test_a_url_that_git_must_not_be_given_is_bad_input(tmp_path: Path, clones: CachedClones, url: str) -> None:
    with pytest.raises(BadInput, match="not a URL that can be cloned"):
        clones.clone(url, None)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("branch", ["--upload-pack=x", "-b", "a:b", "a b", "HEAD~1", "", "a\r"])
def test_a_malformed_branch_is_bad_input(origin: Worktree, clones: CachedClones, branch: str) -> None:
    with pytest.raises(BadInput, match="not a git branch name"):
        clones.clone(url_of(origin), branch)


@pytest.mark.parametrize(
    "url", ["http://me:secret@127.0.0.1:1/a", "http://secret@127.0.0.1:1/a", "http://127.0.0.1:1/a?k=secret"]
)
def test_credentials_are_in_no_message_and_in_no_file(tmp_path: Path, clones: CachedClones, url: str) -> None:
    with pytest.raises(Unavailable, match=r"http://127\.0\.0\.1:1/a cannot be fetched") as error:
        clones.clone(url, None)
    assert "secret" not in str(error.value)
    assert left_in(tmp_path / "cache") == []


class Doorman(BaseHTTPRequestHandler):
    """A server that requires a password."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="private"')
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_password_is_not_asked_for(canary: Canary, origin: Worktree, tmp_path: Path) -> None:
    asking = {**origin.env, "GIT_ASKPASS": canary.command, "SSH_ASKPASS": canary.command, "DISPLAY": ":0"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Doorman) as server, ThreadPoolExecutor(1) as pool:
        serving = pool.submit(server.serve_forever, 0.01)
        try:
            with pytest.raises(Unavailable, match=r"could not read Username .*terminal prompts disabled"):
                clones_in(tmp_path, asking, []).clone(f"http://127.0.0.1:{server.server_port}/a", None)
        finally:
            server.shutdown()
        serving.result(10)
    assert not canary.was_run()


def test_nothing_of_the_users_runs_on_what_was_cloned(
    tmp_path: Path, origin: Worktree, clones: CachedClones, canary: Canary
) -> None:
    origin.commit("attributes", {".gitattributes": b"* filter=x\n"})
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "post-checkout").symlink_to(canary.program)
    Path(origin.env["HOME"], ".gitconfig").write_text(
        f'[filter "x"]\n\tsmudge = {canary.command}\n\tprocess = {canary.command}\n'
        f"[core]\n\thooksPath = {tmp_path}/hooks\n"
        f"[init]\n\ttemplateDir = {tmp_path}\n[submodule]\n\trecurse = true\n"
    )
    folder = clones.clone(url_of(origin), None)
    assert Path(folder, "a.txt").read_bytes() == b"two\n"
    assert not Path(folder, ".git", "hooks").exists()
    assert not canary.was_run()
    origin.git("clone", "--quiet", url_of(origin), str(tmp_path / "plain"), check=False)
    assert canary.was_run()


def test_a_repository_named_like_a_place_for_settings_gives_none(
    tmp_path: Path, clones: CachedClones, canary: Canary
) -> None:
    hostile = new_worktree(tmp_path, "git")
    settings = f'[filter "x"]\n\tsmudge = {canary.command}\n'.encode()
    hostile.commit("first", {"config": settings, "attributes": b"* filter=x\n", ".gitattributes": b"* filter=x\n"})
    assert Path(clones.clone(url_of(hostile), None)).name == "git"
    assert not canary.was_run()


def test_submodules_are_not_fetched(tmp_path: Path, origin: Worktree, clones: CachedClones, canary: Canary) -> None:
    outer = new_worktree(tmp_path, "outer")
    head = origin.git("rev-parse", "HEAD").decode().strip()
    outer.git("update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    modules = f'[submodule "inner"]\n\tpath = inner\r\n\turl = ext::{canary.command}\n'
    outer.write(".gitmodules", modules.encode())
    outer.git("add", ".gitmodules")
    outer.git("commit", "--quiet", "-m", "first")
    folder = Path(clones.clone(url_of(outer), None))
    assert list((folder / "inner").iterdir()) == []
    assert not canary.was_run()


def test_a_remote_that_points_elsewhere_by_the_users_own_rule_uses_known_transports_only(
    origin: Worktree, clones: CachedClones, canary: Canary
) -> None:
    Path(origin.env["HOME"], ".gitconfig").write_text(
        f'[protocol "ext"]\n\tallow = always\n[url "ext::{canary.command} "]\n\tinsteadOf = https://host.invalid/\n'
    )
    with pytest.raises(Unavailable, match="transport 'ext' not allowed"):
        clones.clone("https://host.invalid/a", None)
    assert not canary.was_run()


def test_a_tree_that_would_write_into_the_git_folder_is_not_checked_out(tmp_path: Path, clones: CachedClones) -> None:
    hostile = new_worktree(tmp_path, "hostile")
    hostile.commit("first", {"hooks/post-checkout": b"evil\n"})
    inner = hostile.git("rev-parse", "HEAD:").decode().strip()
    outer = hostile.git("mktree", given=f"040000 tree {inner}\t.git\n".encode()).decode().strip()
    hostile.git("update-ref", "HEAD", hostile.git("commit-tree", "-m", "second", outer).decode().strip())
    with pytest.raises(Unavailable, match="git reset failed"):
        clones.clone(url_of(hostile), None)
    assert left_in(tmp_path / "cache") == []


def test_a_cache_that_cannot_be_written_is_unavailable(tmp_path: Path, origin: Worktree, clones: CachedClones) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(Unavailable, match="no clone can be kept in"):
        clones.clone(url_of(origin), None)


def test_a_file_in_the_place_of_a_clone_is_unavailable(tmp_path: Path, origin: Worktree, clones: CachedClones) -> None:
    home = Path(clones.clone(url_of(origin), None)).parent
    home.rename(tmp_path / "aside")
    home.write_text("a file")
    with pytest.raises(Unavailable, match="no clone can be kept in"):
        clones.clone(url_of(origin), None)
    assert left_in(tmp_path / "cache") == [f"clones/{home.name}"]
