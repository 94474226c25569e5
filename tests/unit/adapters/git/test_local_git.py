import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.worktree import Canary, Worktree, new_worktree
from marid.adapters.git.git_program import GitProgram, check_status
from marid.adapters.git.local_git import LocalGit
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable

SECRET = b"what lies outside\n"


def use_everything(tree: Worktree) -> bytes:
    """Call every method once; returns the diff."""
    git = LocalGit(tree.env)
    assert git.changed_files(tree.folder, "HEAD")
    assert git.log(tree.folder, 5)
    assert git.recency(tree.folder)
    assert git.compare(tree.folder, ".", "HEAD", None)
    git.compare(tree.folder, "a.txt", "HEAD", "HEAD")
    return git.diff(tree.folder, None)


# --- What the repository says must not run -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Trap:
    """Settings of a hostile repository, `{}` for the canary, and the plain command that it would catch."""

    settings: tuple[tuple[str, str], ...]
    plain: str
    attributes: str = ""


TRAPS = {
    "fsmonitor": Trap(settings=(("core.fsmonitor", "{}"),), plain="status"),
    "external diff": Trap(settings=(("diff.external", "{}"),), plain="diff"),
    "textconv": Trap(settings=(("diff.x.textconv", "{}"),), attributes="* diff=x", plain="diff"),
    "diff command": Trap(settings=(("diff.x.command", "{}"),), attributes="* diff=x", plain="diff"),
    "clean filter": Trap(settings=(("filter.x.clean", "{}"),), attributes="* filter=x", plain="diff"),
    "filter process": Trap(settings=(("filter.x.process", "{}"),), attributes="* filter=x", plain="diff"),
    "smudge filter": Trap(settings=(("filter.x.smudge", "{}"),), attributes="* filter=x", plain="checkout a.txt"),
    "alias": Trap(settings=(("alias.odd", "!{}"),), plain="odd"),
    "editor": Trap(settings=(("core.editor", "{}"),), plain="commit --allow-empty --amend"),
    "ssh": Trap(settings=(("core.sshCommand", "{}"), ("remote.x.url", "git@nowhere.invalid:a")), plain="fetch x"),
    "ext remote": Trap(settings=(("protocol.ext.allow", "always"), ("remote.x.url", "ext::{}")), plain="fetch x"),
    "credentials": Trap(settings=(("credential.helper", "!{}"), ("core.askPass", "{}")), plain=""),
    "pager": Trap(settings=(("core.pager", "{}"), ("pager.log", "{}")), plain=""),
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_nothing_that_the_repository_configures_is_run(tree: Worktree, canary: Canary, trap: Trap) -> None:
    tree.config(*((name, value.format(canary.command)) for name, value in trap.settings))
    if trap.attributes:
        tree.write(".gitattributes", f"{trap.attributes}\n".encode())
    diff = use_everything(tree)
    assert b"-one\n+1\n" in diff
    assert not canary.was_run()
    if trap.plain:
        tree.git(*trap.plain.split(), check=False)
        assert canary.was_run(), "the trap would catch plain git"


def test_hooks_are_not_run(tree: Worktree, canary: Canary) -> None:
    (tree.path / ".git" / "hooks").mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (tree.path / ".git" / "hooks" / name).symlink_to(canary.program)
        (tree.path / name).symlink_to(canary.program)
    tree.config(("core.hooksPath", tree.folder))
    use_everything(tree)
    assert not canary.was_run()
    tree.git("checkout", "--quiet", "-b", "other")
    assert canary.was_run()


def test_a_signed_commit_is_not_verified(tree: Worktree, canary: Canary) -> None:
    plain = tree.git("cat-file", "commit", "HEAD").decode()
    head, body = plain.split("\n\n", 1)
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (tree.path / "signed").write_text(f"{head}\n{signature}\n\n{body}")
    signed = tree.git("hash-object", "-t", "commit", "-w", "signed").decode().strip()
    tree.git("update-ref", "HEAD", signed)
    tree.config(("gpg.program", canary.command), ("log.showSignature", "true"))
    use_everything(tree)
    assert not canary.was_run()
    tree.git("log", check=False)
    assert canary.was_run()


def test_an_included_file_is_not_read(tree: Worktree, canary: Canary, tmp_path: Path) -> None:
    (tmp_path / "evil").write_text(f"[core]\n\tfsmonitor = {canary.command}\n")
    os.mkfifo(tmp_path / "pipe")
    config = tree.path / ".git" / "config"
    plain = config.read_text()
    config.write_text(f"{plain}[include]\n\tpath = {tmp_path}/evil\n")
    tree.git("status", check=False)
    assert canary.was_run()
    canary.mark.unlink()
    # Reading the pipe would wait for ever.
    pipes = f"[core]\n\tattributesFile = {tmp_path}/pipe\n[diff]\n\torderFile = {tmp_path}/pipe\n"
    config.write_text(f"{plain}{pipes}[include]\n\tpath = {tmp_path}/evil\n\tpath = {tmp_path}/pipe\n")
    assert b"-one\n+1\n" in use_everything(tree)
    assert not canary.was_run()


@pytest.mark.parametrize("url", ["ext::{}", "git@nowhere.invalid:a"])
def test_a_missing_object_is_not_fetched(tree: Worktree, canary: Canary, url: str) -> None:
    tree.config(
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", url.format(canary.command)),
        ("core.sshCommand", canary.command),
        ("protocol.ext.allow", "always"),
    )
    blob = tree.git("rev-parse", "HEAD:a.txt").decode().strip()
    (tree.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Unavailable, match="git diff failed"):
        LocalGit(tree.env).diff(tree.folder, None)
    assert not canary.was_run()
    tree.git("diff", "HEAD", check=False)
    assert canary.was_run()


def test_attributes_of_the_repository_do_not_reach_the_users_own_commands(tree: Worktree, canary: Canary) -> None:
    Path(tree.env["HOME"], ".gitconfig").write_text(
        f'[filter "x"]\n\tclean = {canary.command}\n[diff "x"]\n\ttextconv = {canary.command}\n'
        f"[core]\n\tfsmonitor = {canary.command}\n[diff]\n\texternal = {canary.command}\n\tnoprefix = true\n"
    )
    tree.write(".gitattributes", b"* filter=x diff=x\n")
    assert b"diff --git a/a.txt b/a.txt" in use_everything(tree)
    assert not canary.was_run()


def test_a_submodule_is_not_entered(tree: Worktree, canary: Canary, tmp_path: Path) -> None:
    other = new_worktree(tmp_path, "other")
    other.commit("first", {"x.txt": b"x\n"})
    tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{other.folder}", "inner")
    tree.commit("second", {})
    tree.write("inner/x.txt", b"changed\n")
    tree.git("config", "core.fsmonitor", canary.command, cwd=tree.path / "inner")
    tree.write("a.txt", b"again\n")
    assert b"inner" not in use_everything(tree)
    assert not canary.was_run()
    tree.git("status")
    assert canary.was_run()


def test_variables_of_git_are_not_handed_on(tree: Worktree, canary: Canary, tmp_path: Path) -> None:
    other = new_worktree(tmp_path, "other")
    hostile = {
        "GIT_DIR": f"{other.folder}/.git",
        "GIT_EXTERNAL_DIFF": canary.command,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": canary.command,
        "GIT_EXEC_PATH": str(tmp_path),
        "GIT_TRACE": str(tmp_path / "trace"),
    }
    noisy = Worktree(path=tree.path, env={**tree.env, **hostile})
    assert b"-one\n+1\n" in use_everything(noisy)
    assert not canary.was_run()
    assert not (tmp_path / "trace").exists()


def test_a_git_of_the_folders_own_is_not_run(tree: Worktree, canary: Canary) -> None:
    (tree.path / "git").symlink_to(canary.program)
    near = Worktree(path=tree.path, env={**tree.env, "PATH": f".:{tree.env['PATH']}"})
    use_everything(near)
    assert not canary.was_run()


# --- What lies outside must not be shown ---------------------------------------------------------------------------


def test_a_working_tree_elsewhere_is_not_read(tree: Worktree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_bytes(SECRET)
    tree.config(("core.worktree", str(outside)))
    assert SECRET in tree.git("diff", "HEAD")
    assert SECRET not in use_everything(tree)


def tamper_index(tree: Worktree, path: bytes) -> None:
    """Name another path of the same length in the index, which git does not check when it reads one."""
    index = tree.path / ".git" / "index"
    entries = index.read_bytes().partition(b"TREE")[0]
    assert b"sub/b.txt" in entries
    forged = entries.replace(b"sub/b.txt", path)
    index.write_bytes(forged + hashlib.sha1(forged).digest())


@pytest.mark.parametrize("path", ["../secret", "sub/../..", "a/.gIt/cf", "a//b//c/d", "./b/b.txt", "sub/./..x"])
def test_an_index_that_names_a_path_outside_is_refused(tree: Worktree, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret").write_bytes(SECRET)
    tamper_index(tree, path.encode())
    git = LocalGit(tree.env)
    for method in (git.diff, git.changed_files):
        with pytest.raises(Refused, match="names a path that is not in its working tree"):
            method(tree.folder, "HEAD")
    if path == "../secret":
        assert SECRET in tree.git("diff", "HEAD"), "plain git shows it"


def test_an_index_with_unusual_names_is_not_refused(tree: Worktree) -> None:
    tree.commit("odd", {"..x": b"", ".gitx/y": b"", "a/...": b"", ".gitignore": b"", "x.git/..y": b""})
    assert LocalGit(tree.env).diff(tree.folder, None) == b""


def test_links_are_shown_as_links(tree: Worktree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_bytes(SECRET)
    tree.remove("a.txt")
    tree.remove("sub/b.txt")
    (tree.path / "sub").rmdir()
    (tree.path / "sub").symlink_to(outside)
    (tree.path / "a.txt").symlink_to(outside / "b.txt")
    diff = LocalGit(tree.env).diff(tree.folder, None)
    assert SECRET not in diff
    assert f"+{outside}/b.txt".encode() in diff
    assert LocalGit(tree.env).changed_files(tree.folder, "HEAD") == ("a.txt", "sub")


def test_replaced_objects_are_not_shown(tree: Worktree) -> None:
    tree.write("other", b"replaced\n")
    other = tree.git("hash-object", "-w", "other").decode().strip()
    tree.git("replace", tree.git("rev-parse", "HEAD:a.txt").decode().strip(), other)
    assert b"-one" in LocalGit(tree.env).diff(tree.folder, None)


# --- Whose repository it is ----------------------------------------------------------------------------------------


def suspicious_git(tree: Worktree, tmp_path: Path) -> Worktree:
    """A git that takes every repository for that of another user."""
    programs = tmp_path / "programs"
    programs.mkdir()
    real = f"env PATH='{tree.env['PATH']}' GIT_TEST_ASSUME_DIFFERENT_OWNER=1 git"
    (programs / "git").write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    (programs / "git").chmod(0o755)
    return Worktree(path=tree.path, env={**tree.env, "PATH": f"{programs}:{tree.env['PATH']}"})


def test_someone_elses_repository_is_refused_until_the_user_trusts_it(tree: Worktree, tmp_path: Path) -> None:
    foreign = suspicious_git(tree, tmp_path)
    git = LocalGit(foreign.env, user=os.geteuid() + 1)
    with pytest.raises(Refused, match=r"does not trust .*/project: .*dubious ownership"):
        git.diff(tree.folder, None)
    assert git.recency(tree.folder) == {}
    Path(tree.env["HOME"], ".gitconfig").write_text(f"[safe]\n\tdirectory = {tree.folder}\n")
    assert b"-one\n+1\n" in git.diff(tree.folder, None)


# --- Revisions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rev", ["--output={}/pwn", "--no-index", "HEAD^{{/(a+)+$}}", "@{{-99999}}", ":/first", "a" * 9999]
)
def test_a_malformed_revision_is_bad_input(tree: Worktree, tmp_path: Path, rev: str) -> None:
    git = LocalGit(tree.env)
    for ask in (git.diff, git.changed_files):
        with pytest.raises(BadInput, match="not a git revision"):
            ask(tree.folder, rev.format(tmp_path))
    assert not (tmp_path / "pwn").exists()


def test_a_reference_with_the_name_of_an_option_is_not_used(tree: Worktree) -> None:
    head = tree.git("rev-parse", "HEAD").decode()
    (tree.path / ".git" / "refs" / "heads" / "--format=evil").write_text(head)
    with pytest.raises(BadInput):
        LocalGit(tree.env).diff(tree.folder, "--format=evil")


@pytest.mark.parametrize("rev", ["nope", "HEAD~7", "HEAD^2", "0" * 40, "main/x"])
def test_a_revision_that_is_not_there_is_bad_input(tree: Worktree, rev: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"no such revision: '{rev}'")):
        LocalGit(tree.env).changed_files(tree.folder, rev)


def test_branches_tags_and_marks_of_git_are_revisions(tree: Worktree) -> None:
    tree.git("tag", "-a", "-m", "annotated", "v1")
    tree.git("pack-refs", "--all")
    tree.git("update-ref", "ORIG_HEAD", "HEAD")
    for rev in ("main", "v1", "refs/tags/v1", "HEAD^{commit}", "@", "ORIG_HEAD"):
        assert LocalGit(tree.env).changed_files(tree.folder, rev) == ("a.txt",)


# --- The state itself ----------------------------------------------------------------------------------------------


def test_before_the_first_commit_what_is_staged_is_the_diff(tmp_path: Path) -> None:
    tree = new_worktree(tmp_path)
    git = LocalGit(tree.env)
    assert git.diff(tree.folder, None) == b""
    tree.write("new.txt", b"new\n")
    tree.git("add", "new.txt")
    assert b"+new\n" in git.diff(tree.folder, None)
    assert git.log(tree.folder, 1) == b""
    assert git.recency(tree.folder) == {}
    with pytest.raises(BadInput, match="no such revision: 'HEAD'"):
        git.changed_files(tree.folder, "HEAD")


def test_a_change_within_the_second_of_the_commit_is_seen(tree: Worktree) -> None:
    """Git finds such a change by the time of the index, which the copy has to keep."""
    git = LocalGit(tree.env)
    for number in range(5):
        tree.commit("again", {"a.txt": b"%d\n" % number})
        tree.write("a.txt", b"x\n")
        assert git.changed_files(tree.folder, "HEAD") == ("a.txt",)


def test_a_file_that_was_only_touched_is_not_in_the_diff(tree: Worktree) -> None:
    tree.commit("second", {})
    os.utime(tree.path / "a.txt", (1, 1))
    assert LocalGit(tree.env).diff(tree.folder, None) == b""


def test_the_repository_is_left_as_it_is_even_when_it_is_locked(tree: Worktree) -> None:
    os.utime(tree.path / "sub" / "b.txt", (1, 1))
    (tree.path / ".git" / "index.lock").touch()

    def state() -> dict[str, tuple[int, int]]:
        files = (path for path in (tree.path / ".git").rglob("*"))
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = state()
    assert b"-one\n+1\n" in use_everything(tree)
    assert state() == before


def test_names_of_any_bytes_are_returned(tree: Worktree) -> None:
    names = (b"caf\xe9", b"line\nend", "ü".encode(), b'"quoted"', b"-dash", b":(glob)*")
    for name in names:
        (Path(os.fsdecode(os.fsencode(tree.path) + b"/" + name))).write_bytes(b"x")
    changed = LocalGit(tree.env).changed_files(tree.folder, "HEAD")
    assert {name.encode("utf-8", "surrogateescape") for name in changed} == {*names, b"a.txt"}
    tree.commit("odd names", {})
    assert {name.encode("utf-8", "surrogateescape") for name in LocalGit(tree.env).recency(tree.folder)} >= set(names)


def test_repositories_inside_and_ignored_files_are_not_changes(tree: Worktree, tmp_path: Path) -> None:
    tree.write(".gitignore", b"*.log\n")
    tree.write("x.log", b"")
    tree.write("excluded.txt", b"")
    tree.write("mine.txt", b"")
    (tree.path / ".git" / "info").mkdir(exist_ok=True)
    (tree.path / ".git" / "info" / "exclude").write_text("excluded.txt\n")
    Path(tree.env["HOME"], "ignored").write_text("mine.txt\n")
    Path(tree.env["HOME"], ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n\tautocrlf\n")
    tree.git("init", "--quiet", "nested")
    tree.write("nested/x.txt", b"")
    assert LocalGit(tree.env).changed_files(tree.folder, "HEAD") == (".gitignore", "a.txt")


@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME"])
def test_the_users_ignore_file_is_found_in_its_usual_place(tree: Worktree, tmp_path: Path, variable: str) -> None:
    place = tmp_path / "home" / ".config" if variable == "HOME" else tmp_path / "xdg"
    (place / "git").mkdir(parents=True)
    (place / "git" / "ignore").write_text("mine.txt\n")
    tree.write("mine.txt", b"")
    env = {**tree.env, "XDG_CONFIG_HOME": str(place)} if variable != "HOME" else tree.env
    assert LocalGit(env).changed_files(tree.folder, "HEAD") == ("a.txt",)
    Path(tree.env["HOME"], ".gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path}/none\n")
    assert LocalGit(env).changed_files(tree.folder, "HEAD") == ("a.txt", "mine.txt")
    homeless = {"PATH": tree.env["PATH"]}
    assert LocalGit(homeless).changed_files(tree.folder, "HEAD") == ("a.txt", "mine.txt")


def test_only_the_user_names_an_ignore_file(tree: Worktree) -> None:
    tree.write("new.txt", b"")
    tree.write("sub/all", b"*\n")
    tree.config(("core.excludesFile", str(tree.path / "sub" / "all")))
    assert "new.txt" in LocalGit(tree.env).changed_files(tree.folder, "HEAD")


def test_line_ends_are_compared_as_the_repository_says(tree: Worktree) -> None:
    tree.config(("core.autocrlf", "true"))
    tree.write("a.txt", b"one\r\n")
    assert LocalGit(tree.env).diff(tree.folder, None) == b""


def split_index(tree: Worktree) -> None:
    tree.git("update-index", "--split-index")
    assert list((tree.path / ".git").glob("sharedindex.*"))


def sparse_index(tree: Worktree) -> None:
    tree.git("sparse-checkout", "set", "--cone", "--sparse-index", "other")
    assert not (tree.path / "sub").exists()


def unmerged(tree: Worktree) -> None:
    tree.commit("ours", {"a.txt": b"ours\n"})
    tree.git("checkout", "--quiet", "-b", "theirs", "HEAD~")
    tree.commit("theirs", {"a.txt": b"theirs\n"})
    tree.git("merge", "main", check=False)


@pytest.mark.parametrize("arrange", [split_index, sparse_index, unmerged])
def test_unusual_indexes_are_read(tree: Worktree, arrange: Callable[[Worktree], None]) -> None:
    arrange(tree)
    assert LocalGit(tree.env).changed_files(tree.folder, "HEAD") == ("a.txt",)
    assert b"a.txt" in LocalGit(tree.env).diff(tree.folder, None)


def test_other_hashes_are_known(tmp_path: Path) -> None:
    tree = new_worktree(tmp_path, "project", "--object-format=sha256")
    tree.write("a.txt", b"one\n")
    tree.git("add", "a.txt")
    assert b"+one" in LocalGit(tree.env).diff(tree.folder, None)
    assert len(tree.commit("first", {})) == 64
    tree.write("a.txt", b"1\n")
    assert b"-one\n+1\n" in use_everything(tree)


def test_a_shallow_repository_has_the_history_it_has(tree: Worktree, tmp_path: Path) -> None:
    tree.commit("second", {"c.txt": b"c\n"})
    tree.git("clone", "--quiet", "--depth=1", f"file://{tree.folder}", str(tmp_path / "shallow"))
    log = LocalGit(tree.env).log(str(tmp_path / "shallow"), 9)
    assert log.count(b"commit ") == 1


# --- Limits and failures -------------------------------------------------------------------------------------------


def test_a_diff_over_the_limit_is_exhausted(tree: Worktree) -> None:
    tree.write("a.txt", b"line\n" * 10_000)
    with pytest.raises(Exhausted, match="git printed more than 10,000 bytes"):
        LocalGit(tree.env, limits=ProgramLimits(max_output=10_000)).diff(tree.folder, None)


def test_a_huge_file_is_only_reported_to_differ(tree: Worktree) -> None:
    os.truncate(tree.path / "a.txt", 60_000_000)
    assert b"Binary files a/a.txt and b/a.txt differ" in LocalGit(tree.env).diff(tree.folder, None)


def test_git_opens_no_file_of_the_working_tree(tree: Worktree) -> None:
    os.mkfifo(tree.path / ".gitattributes")
    tree.write("a.txt", b"changed\n")
    assert b"+changed" in LocalGit(tree.env).diff(tree.folder, None)


def test_a_file_is_converted_by_its_attributes_also_in_a_folder(tree: Worktree) -> None:
    tree.commit("attributes", {".gitattributes": b"*.txt text\n", "deep/-x.txt": b"one\ntwo\n"})
    tree.write("deep/-x.txt", b"one\r\ntwo\r\nthree\r\n")
    diff = LocalGit(tree.env).diff(str(tree.path / "deep"), None)
    assert b"+three\n" in diff
    assert b"-one" not in diff


def test_a_pipe_in_the_place_of_a_reference_only_takes_the_time_limit(tree: Worktree) -> None:
    name = ".git/refs/heads/main"
    (tree.path / name).unlink(missing_ok=True)
    os.mkfifo(tree.path / name)
    with pytest.raises(Unavailable, match=r"git took longer than 0\.5 s"):
        LocalGit(tree.env, limits=ProgramLimits(timeout=0.5)).diff(tree.folder, None)


def test_without_git_the_state_is_unavailable_and_there_is_no_recency(tree: Worktree, tmp_path: Path) -> None:
    git = LocalGit({"PATH": str(tmp_path)})
    with pytest.raises(Unavailable, match="git is not installed"):
        git.diff(tree.folder, None)
    assert git.recency(tree.folder) == {}


@pytest.mark.parametrize(
    ("damage", "family"),
    [
        (("config", b"[core\n"), Unavailable),
        (("config", b"[core]\n\trepositoryformatversion = 99\n"), Unavailable),
        (("config", b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = md5\n"), Unavailable),
        (("config", b"[core]\n\tautocrlf = perhaps\n"), Unavailable),
        (("index", b"DIRC"), Unavailable),
        (("HEAD", b"nonsense\n"), Unavailable),
        (("HEAD", b""), NotFound),
        (("refs/heads/main", b"1" * 40), MaridError),
    ],
)
def test_a_damaged_repository_is_an_error_that_names_no_file_of_ours(
    tree: Worktree, damage: tuple[str, bytes], family: type[MaridError]
) -> None:
    name, data = damage
    (tree.path / ".git" / name).write_bytes(data)
    with pytest.raises(family) as error:
        LocalGit(tree.env).diff(tree.folder, None)
    assert "marid-git-" not in str(error.value)


def test_a_configuration_that_is_not_a_file_is_ignored(tree: Worktree) -> None:
    (tree.path / ".git" / "config").unlink()
    os.mkfifo(tree.path / ".git" / "config")
    assert b"-one\n+1\n" in use_everything(tree)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which git is a program that prints its arguments and variables."""
    (tmp_path / "git").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n/usr/bin/env\n')
    (tmp_path / "git").chmod(0o755)
    return {"PATH": f"bin:{tmp_path}", "HOME": "/home/ada", "GIT_DIR": "/elsewhere", "TOKEN": "x", "https_proxy": "p"}


def lines_of(result: ProgramResult) -> set[str]:
    return set(result.out.decode().splitlines())


def test_git_alone_has_no_home_and_is_quiet(env: dict[str, str], tmp_path: Path) -> None:
    lines = lines_of(GitProgram(env, ProgramLimits()).run_isolated("status", cwd="/", extra={"GIT_WORK_TREE": "/w"}))
    assert {"HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null"} <= lines
    assert {"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_WORK_TREE=/w"} <= lines
    assert {"status", "--no-pager", "core.fsmonitor=false", "core.hooksPath=/dev/null", f"PATH={tmp_path}"} <= lines


def test_git_for_the_user_has_the_users_home_and_no_other_variables(env: dict[str, str]) -> None:
    lines = lines_of(GitProgram(env, ProgramLimits()).run_with_user_config("status", cwd="/"))
    assert {"HOME=/home/ada", "https_proxy=p", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1"} <= lines
    assert not lines & {"GIT_DIR=/elsewhere", "TOKEN=x"}


def test_status_1_is_an_answer_and_more_is_a_failure() -> None:
    no = ProgramResult(status=1, out=b"", err=b"")
    assert check_status(no, "git x") is no
    with pytest.raises(Unavailable, match="git x failed: bad"):
        check_status(ProgramResult(status=128, out=b"", err=b"fatal: bad\n"), "git x")
