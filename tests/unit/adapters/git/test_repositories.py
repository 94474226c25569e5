import os
from pathlib import Path

import pytest

from fakes.worktree import Worktree, new_worktree
from marid.adapters.git import repositories
from marid.adapters.git.local_git import LocalGit
from marid.core.errors import Exhausted, NotFound, Refused, Unavailable

SECRET = b"the neighbour's secret\n"


@pytest.fixture
def neighbour(tmp_path: Path) -> Worktree:
    """Another repository on the machine, which must not be shown."""
    other = new_worktree(tmp_path, "neighbour")
    other.commit("first", {"secret.txt": SECRET})
    return other


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "hostile"
    folder.mkdir()
    return folder


def everything(tree: Worktree, folder: str | None = None) -> bytes:
    git = LocalGit(tree.env)
    where = folder or tree.folder
    return git.diff(where, None) + git.log(where, 9) + repr(git.changed_files(where, "HEAD")).encode()


def test_the_repository_of_a_folder_is_found_upwards(tree: Worktree) -> None:
    found = repositories.find_repository(str(tree.path / "sub"))
    assert found.work_tree == tree.folder
    assert found.git_dir == found.common_dir == str(tree.path / ".git")
    assert found.owners() == {os.geteuid()}


@pytest.mark.parametrize("content", [None, b"", b"no pointer\n", b"gitdir: ../nowhere\n"])
def test_a_folder_without_a_git_folder_is_in_no_repository(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / ".git").write_bytes(content)
    with pytest.raises(NotFound, match="not in a git repository"):
        repositories.find_repository(str(tmp_path))
    with pytest.raises(NotFound, match=r"no such folder: .*/missing"):
        repositories.find_repository(str(tmp_path / "missing"))


def test_an_embedded_bare_repository_is_not_taken_for_the_folders(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    tree = new_worktree(tmp_path)
    tree.git("init", "--quiet", "--bare", str(bare))
    assert b"true" in tree.git("rev-parse", "--is-bare-repository", cwd=bare), "plain git takes it"
    with pytest.raises(NotFound):
        repositories.find_repository(str(bare))


def test_a_git_folder_behind_a_link_is_refused(hostile: Path, neighbour: Worktree) -> None:
    (hostile / ".git").symlink_to(neighbour.path / ".git")
    assert SECRET.strip() in neighbour.git("diff", "HEAD", cwd=hostile), "plain git shows it"
    with pytest.raises(Refused, match="is a link"):
        repositories.find_repository(str(hostile))


def test_a_git_file_that_names_a_neighbour_is_refused(hostile: Path, neighbour: Worktree) -> None:
    (hostile / ".git").write_text(f"gitdir: {neighbour.folder}/.git\n")
    assert SECRET.strip() in neighbour.git("diff", "HEAD", cwd=hostile), "plain git shows it"
    with pytest.raises(Refused, match="does not know of it"):
        everything(neighbour, str(hostile))


def test_a_git_file_that_names_the_working_tree_of_a_neighbour_is_refused(
    tmp_path: Path, hostile: Path, neighbour: Worktree
) -> None:
    neighbour.git("worktree", "add", "--quiet", str(tmp_path / "second"))
    (hostile / ".git").write_text((tmp_path / "second" / ".git").read_text())
    with pytest.raises(Refused, match="does not know of it"):
        repositories.find_repository(str(hostile))


def test_a_git_folder_that_shares_the_store_of_a_neighbour_gets_nothing(
    tmp_path: Path, tree: Worktree, neighbour: Worktree
) -> None:
    (tree.path / ".git" / "commondir").write_text(f"{neighbour.folder}/.git\n")
    assert SECRET.strip() in tree.git("diff", "HEAD"), "plain git shows it"
    assert SECRET.strip() not in everything(tree)


def test_a_made_up_working_tree_of_a_neighbour_is_refused(hostile: Path, neighbour: Worktree) -> None:
    made_up = hostile / "worktrees" / "x"
    made_up.mkdir(parents=True)
    (hostile / ".git").write_text("gitdir: worktrees/x\n")
    (made_up / "HEAD").write_text("ref: refs/heads/main\n")
    (made_up / "gitdir").write_text(f"{hostile}/.git\n")
    (made_up / "commondir").write_text(f"{neighbour.folder}/.git\n")
    assert SECRET.strip() in neighbour.git("diff", "HEAD", cwd=hostile), "plain git shows it"
    with pytest.raises(Refused, match="does not know of it"):
        repositories.find_repository(str(hostile))


@pytest.mark.parametrize("part", ["objects", "objects/pack", "objects/info", "objects/00"])
def test_a_store_with_links_is_refused(tree: Worktree, neighbour: Worktree, part: str) -> None:
    mine = tree.path / ".git" / part
    if mine.exists():
        mine.rename(tree.path / "aside")
    mine.symlink_to(neighbour.path / ".git" / part)
    with pytest.raises(Refused, match="holds links"):
        repositories.find_repository(tree.folder)


def test_a_store_that_borrows_is_refused(tree: Worktree, neighbour: Worktree) -> None:
    alternates = tree.path / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{neighbour.folder}/.git/objects\n")
    with pytest.raises(Refused, match="borrows objects"):
        repositories.find_repository(tree.folder)
    alternates.write_text("")
    assert repositories.find_repository(tree.folder)


def test_a_store_without_some_folders_is_fine(tree: Worktree) -> None:
    (tree.path / ".git" / "objects" / "pack").rmdir()
    assert b"+1" in everything(tree)


def test_references_that_are_links_show_no_line_of_what_they_lead_to(tmp_path: Path, tree: Worktree) -> None:
    (tmp_path / "passwd").write_bytes(SECRET)
    (tree.path / ".git" / "info").mkdir()
    for name in ("packed-refs", "shallow", "info/exclude", "ORIG_HEAD"):
        (tree.path / ".git" / name).unlink(missing_ok=True)
        (tree.path / ".git" / name).symlink_to(tmp_path / "passwd")
    assert b"+1" in everything(tree)


def test_a_second_working_tree_has_its_own_state(tmp_path: Path, tree: Worktree) -> None:
    second = tmp_path / "second"
    tree.git("worktree", "add", "--quiet", "-b", "other", str(second))
    (second / "a.txt").write_bytes(b"second\n")
    found = repositories.find_repository(str(second))
    assert (found.git_dir, found.common_dir) == (f"{tree.folder}/.git/worktrees/second", f"{tree.folder}/.git")
    assert b"+second" in everything(tree, str(second))


def test_a_submodule_is_read(tree: Worktree, neighbour: Worktree) -> None:
    tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{neighbour.folder}", "inner")
    tree.write("inner/secret.txt", b"changed\n")
    assert b"+changed" in everything(tree, str(tree.path / "inner"))


def test_a_separate_git_folder_must_name_its_working_tree(tmp_path: Path, tree: Worktree) -> None:
    tree.git("init", "--quiet", f"--separate-git-dir={tmp_path}/apart.git")
    assert (tree.path / ".git").is_file()
    with pytest.raises(Refused, match=r"git config core\.worktree"):
        everything(tree)
    tree.config(("core.worktree", tree.folder))
    assert b"+1" in everything(tree)


def test_the_view_is_gone_afterwards(tree: Worktree) -> None:
    with repositories.open_neutral_view(repositories.find_repository(tree.folder)) as view:
        assert (Path(view) / "HEAD").read_bytes() == b"ref: refs/heads/main\n"
        assert not (Path(view) / "hooks").exists()
    assert not Path(view).exists()
    assert (tree.path / ".git" / "objects").is_dir()


def test_only_words_of_known_settings_are_taken_over(tmp_path: Path) -> None:
    settings = {"core.autocrlf": "input", "core.eol": "lf\n[alias]\n", "core.fsmonitor": "evil", "core.symlinks": ""}
    repositories.write_config(str(tmp_path), settings)
    assert (tmp_path / "config").read_text() == "[core]\n\tbare = false\n[core]\n\tautocrlf = input\n"


def test_a_view_that_cannot_be_written_is_unavailable(tree: Worktree, tmp_path: Path) -> None:
    found = repositories.find_repository(tree.folder)
    (tree.path / ".git").rename(tree.path / "gone")
    with pytest.raises(Unavailable, match="cannot be read"), repositories.open_neutral_view(found):
        pass
    with pytest.raises(Unavailable, match="cannot be read"):
        repositories.write_config(str(tmp_path / "missing"), {})


def test_a_repository_that_is_gone_has_no_owner(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert repositories.GitRepository(work_tree=gone, git_dir=gone, common_dir=gone).owners() == {repositories.NO_OWNER}


def test_a_huge_index_is_not_copied(tree: Worktree) -> None:
    os.truncate(tree.path / ".git" / "index", 1 << 40)
    with pytest.raises(Exhausted, match="index is larger than"):
        everything(tree)


def test_a_short_text_is_read_from_plain_files_only(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x\xff")
    (tmp_path / "long").write_bytes(bytes(repositories.MAX_SMALL_FILE + 1))
    (tmp_path / "link").symlink_to("plain")
    os.mkfifo(tmp_path / "pipe")
    assert repositories.read_small_file(str(tmp_path / "plain")) == "x\udcff"
    for name in ("long", "link", "pipe", ".", "no"):
        assert repositories.read_small_file(str(tmp_path / name)) is None
