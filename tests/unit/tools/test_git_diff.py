import os
from pathlib import Path

import pytest

from fakes.git import FakeGit
from fakes.tool_caller import ToolCaller
from fakes.worktree import Worktree, new_canary, new_worktree
from marid.adapters.git.local_git import LocalGit
from marid.ports.git import Git
from marid.tools.git_diff import MAX_CHARACTERS, get_git_diff


@pytest.fixture
def tree(tmp_path: Path) -> Worktree:
    tree = new_worktree(tmp_path)
    tree.commit("first", {"a.txt": b"one\n", "sub/b.txt": b"two\n", "sub/gone.txt": b"gone\n"})
    tree.commit("second", {"a.txt": b"uno\n"})
    tree.write("a.txt", b"1\n")
    return tree


@pytest.fixture
def hands(tree: Worktree) -> ToolCaller:
    return ToolCaller(tree.path, {Git: LocalGit(tree.env)})


def test_what_is_not_committed_is_shown(tree: Worktree, hands: ToolCaller) -> None:
    tree.remove("sub/gone.txt")
    tree.write("new.txt", b"untracked\n")
    outcome = hands.output(get_git_diff, path=".")
    assert "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-uno\n+1\n" in outcome.text
    assert "untracked" not in outcome.text
    assert outcome.values == {"files": ["a.txt", "sub/gone.txt"], "truncated": False}


def test_one_file_one_folder_and_an_absolute_path(tree: Worktree, hands: ToolCaller) -> None:
    tree.write("sub/b.txt", b"2\n")
    assert "sub/b.txt" not in hands.text(get_git_diff, path="a.txt")
    assert "a/sub/b.txt" in hands.text(get_git_diff, path="sub")
    assert "a.txt" not in hands.text(get_git_diff, path=f"{tree.folder}/sub/b.txt")


def test_two_revisions_are_compared(hands: ToolCaller) -> None:
    text = hands.text(get_git_diff, path="a.txt", base_rev="HEAD~1", head_rev="HEAD")
    assert "-one\n+uno\n" in text
    assert hands.text(get_git_diff, path="a.txt", base_rev="main", head_rev="HEAD") == "No differences."


def test_a_file_that_was_deleted_can_be_asked_for(tree: Worktree, hands: ToolCaller) -> None:
    tree.remove("sub/gone.txt")
    assert "-gone\n" in hands.text(get_git_diff, path="sub/gone.txt")


def test_a_project_below_the_repository_is_told_nothing_of_what_is_above(tree: Worktree) -> None:
    tree.write("sub/b.txt", b"2\n")
    below = ToolCaller(tree.path / "sub", {Git: LocalGit(tree.env)})
    text = below.text(get_git_diff, path=".")
    assert "--- a/b.txt\n" in text
    assert "a.txt" not in text


def test_blacklisted_files_are_left_out(tree: Worktree, hands: ToolCaller) -> None:
    names = ["history.toml", "sub/my_history.toml", "HISTORY.TOML", "sub/x_History.Toml", "history.toml.bak"]
    tree.commit("third", dict.fromkeys(names, b"canary\n"))
    text = hands.text(get_git_diff, path=".", base_rev="HEAD~1", head_rev="HEAD")
    assert text.count("canary") == 1
    assert "history.toml.bak" in text
    assert "my_history" not in text


def test_another_name_of_a_blacklisted_file_is_left_out(tree: Worktree, hands: ToolCaller) -> None:
    tree.commit("third", {"notes.txt": b"plain\n"})
    tree.write("history.toml", b"canary\n")
    tree.remove("notes.txt")
    os.link(tree.path / "history.toml", tree.path / "notes.txt")
    assert "canary" not in hands.text(get_git_diff, path=".")
    assert hands.text(get_git_diff, path="notes.txt") == "No differences."


def test_a_binary_file_is_only_named(tree: Worktree, hands: ToolCaller) -> None:
    tree.commit("third", {"x.bin": bytes(range(256)) * 9})
    text = hands.text(get_git_diff, path="x.bin", base_rev="HEAD~1")
    assert "Binary files /dev/null and b/x.bin differ" in text
    assert len(text) < 200


def test_a_long_diff_is_cut_and_says_so(tree: Worktree, hands: ToolCaller) -> None:
    tree.write("a.txt", b"a line of text\n" * 40_000)
    outcome = hands.output(get_git_diff, path=".")
    assert len(outcome.text) < MAX_CHARACTERS + 200
    assert outcome.values["truncated"] is True
    assert outcome.text.splitlines()[-1].startswith("(cut: ")
    assert outcome.text.splitlines()[-2] == "+a line of text"


def test_a_file_with_odd_bytes_or_an_odd_name_is_shown(tree: Worktree, hands: ToolCaller) -> None:
    tree.commit("third", {"-x": b"\xff\n", "sp ace\tb": b"q\n", ":(top)a": b"w\n"})
    for name in ("-x", "sp ace\tb", ":(top)a"):
        text = hands.text(get_git_diff, path=name, base_rev="HEAD~1", head_rev="HEAD")
        assert text.count("diff --git") == 1, name


def test_an_option_as_a_revision_writes_nothing(tree: Worktree, hands: ToolCaller, tmp_path: Path) -> None:
    mark = tmp_path / "pwn"
    assert hands.failure(get_git_diff, path=".", base_rev=f"--output={mark}").code == "bad_input"
    assert hands.failure(get_git_diff, path=".", base_rev="--no-index", head_rev="/etc/passwd").code == "bad_input"
    assert not mark.exists()


def test_a_tracked_folder_that_became_a_link_shows_nothing_from_outside(
    tree: Worktree, hands: ToolCaller, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.txt").write_text("canary\n")
    for name in ("b.txt", "gone.txt"):
        tree.remove(f"sub/{name}")
    (tree.path / "sub").rmdir()
    (tree.path / "sub").symlink_to(tmp_path / "out")
    text = hands.text(get_git_diff, path=".")
    assert "canary" not in text
    assert "-two\n" in text


def test_nothing_that_the_repository_configures_is_run(tree: Worktree, hands: ToolCaller, tmp_path: Path) -> None:
    canary = new_canary(tmp_path)
    tree.write(".gitattributes", b"* diff=x filter=x\n")
    tree.write(".gitmodules", f'[submodule "m"]\n\tpath = m\r\n\turl = ext::{canary.command}\n'.encode())
    tree.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},m")
    tree.config(("protocol.ext.allow", "always"), ("submodule.recurse", "true"), ("diff.submodule", "diff"))
    tree.config(*((name, canary.command) for name in ("core.fsmonitor", "diff.x.textconv", "filter.x.clean")))
    assert "+1\n" in hands.text(get_git_diff, path=".")
    assert "+uno\n" in hands.text(get_git_diff, path=".", base_rev="HEAD~1", head_rev="HEAD")
    assert not canary.was_run()


def test_no_repository_is_bad_input_that_names_no_other_path(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    hands = ToolCaller(tmp_path / "plain", {Git: FakeGit(repositories={})})
    failure = hands.failure(get_git_diff, path=".")
    assert (failure.code, failure.message) == ("bad_input", "'.' is in no git repository")


def test_a_repository_that_borrows_is_refused_without_its_paths(
    tree: Worktree, hands: ToolCaller, tmp_path: Path
) -> None:
    (tree.path / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (tree.path / ".git" / "objects" / "info" / "alternates").write_text(f"{tmp_path}/elsewhere\n")
    failure = hands.failure(get_git_diff, path="a.txt")
    assert failure.code == "refused"
    assert str(tmp_path) not in failure.message


def test_what_is_nowhere_is_not_found(hands: ToolCaller) -> None:
    failure = hands.failure(get_git_diff, path="nope.txt")
    assert failure.code == "not_found"
    assert "'nope.txt'" in failure.message


def test_an_unmerged_file_is_shown_and_a_blacklisted_one_is_not(tree: Worktree, hands: ToolCaller) -> None:
    tree.commit("base", {"m.txt": b"0\n", "history.toml": b"0\n"})
    tree.git("checkout", "--quiet", "-b", "side")
    tree.commit("side", {"m.txt": b"side\n", "history.toml": b"canary-side\n"})
    tree.git("checkout", "--quiet", "main")
    tree.commit("main", {"m.txt": b"main\n", "history.toml": b"canary-main\n"})
    tree.git("merge", "side", check=False)
    text = hands.text(get_git_diff, path=".")
    assert "m.txt" in text
    assert "history" not in text
    assert "canary" not in text


def test_line_ends_that_git_stores_otherwise_are_no_change(tree: Worktree, hands: ToolCaller) -> None:
    tree.git("config", "core.autocrlf", "true")
    tree.write("a.txt", b"1\r\n2\r\n")
    assert "+2" in hands.text(get_git_diff, path=".")
