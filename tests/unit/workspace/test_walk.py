import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.files import as_nobody
from fakes.trees import (
    CountingWalker,
    Problems,
    Rules,
    paths_of,
    plant,
    plant_chain,
    plant_names,
    plant_repository,
    scratch,
    selected,
    walker,
)
from marid.core.errors import BadInput, NotFound, Refused
from marid.workspace.dirfd_walk import DirfdWalk, MountLoop
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import Folder, SelectionRules, Walker, describe_os_error, list_folder, unreadable_error


def test_a_folder_comes_before_its_sub_folders_and_everything_by_name(tmp_path: Path) -> None:
    plant_names(tmp_path, "b.py", "a/z.py", "a.py", "a/b/c.py", "a/b.py", "a-b/x.py", "Z.py")
    assert list(walker(tmp_path).walk()) == [
        Folder("", ["Z.py", "a.py", "b.py"]),
        Folder("a", ["b.py", "z.py"]),
        Folder("a/b", ["c.py"]),
        Folder("a-b", ["x.py"]),
    ]


def test_a_folder_with_nothing_selected_is_not_told(tmp_path: Path) -> None:
    plant_names(tmp_path, "empty/", "a/b/c.py", "d/x.log")
    assert list(walker(tmp_path).walk()) == [Folder("a/b", ["c.py"])]


def test_links_and_special_files_are_only_counted() -> None:
    with scratch() as top, socket.socket(socket.AF_UNIX) as server:
        plant_names(top, "real/a.py")
        os.symlink("real/a.py", f"{top}/link.py")
        os.symlink("nowhere", f"{top}/dangling")
        os.symlink("..", f"{top}/real/loop")
        os.mkfifo(f"{top}/fifo")
        server.bind(f"{top}/socket")
        found = walker(top)
        assert paths_of(found.walk()) == ["real/a.py"]
    assert (found.skipped_links, found.skipped_special_files) == (3, 2)


def test_names_of_any_bytes_are_found() -> None:
    names = ["a\nb", "\udcff\udcfe", "\x1b[31m", " ", "-rf", '"', "é", "e\u0301", "a" * 255]
    with scratch() as top:
        plant_names(top, *names)
        assert selected(top) == sorted(names)


def test_a_tree_deeper_than_python_recurses_or_a_path_may_be_long() -> None:
    with scratch() as top:
        plant_chain(top, "a-folder-with-a-long-name", 700, {"x.py": "", "z/y.py": ""})
        found = list(walker(top).walk())
    assert len(found) == 1400
    assert len(found[699].path) > 4096 * 3


def test_a_target_is_walked_with_paths_relative_to_the_top(tmp_path: Path) -> None:
    plant_names(tmp_path, "a/b/c.py", "a/d.py", "e.py")
    assert paths_of(walker(tmp_path).walk("a")) == ["a/d.py", "a/b/c.py"]
    assert paths_of(walker(tmp_path).walk("a/b")) == ["a/b/c.py"]


def test_a_target_that_is_not_there_or_no_folder_is_an_error(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "real/b.py")
    (tmp_path / "link").symlink_to("real")
    for place, error in (("nothing", NotFound), ("a.py", BadInput), ("link", BadInput)):
        with pytest.raises(error, match=place):
            list(walker(tmp_path).walk(place))
        if place != "link":
            with pytest.raises(error, match=place):
                list(Walker(str(tmp_path / place), SelectionRules()).walk())


def test_a_target_without_permission_is_refused_and_a_folder_below_is_told() -> None:
    with scratch() as top:
        plant_names(top, "closed/a.py", "open.py")
        os.chmod(f"{top}/closed", 0)
        problems = Problems()
        with as_nobody():
            found = paths_of(Walker(top, SelectionRules(), problems).walk())
            assert selected(top) == ["open.py"]
            with pytest.raises(Refused, match="permission denied"):
                selected(f"{top}/closed")
    assert found == ["open.py"]
    assert problems == [("closed", "permission denied")]


def test_a_folder_that_nothing_can_include_is_never_listed() -> None:
    with scratch() as top:
        plant_names(top, "node_modules/a.js", "src/a.py", "ignored/b.py")
        plant(top, {".gitignore": "ignored/"})
        for name in ("node_modules", "ignored"):
            os.chmod(f"{top}/{name}", 0)
        problems = Problems()
        with as_nobody():
            rules = Rules(inline=("src/*.py", "!docs/")).ruling()
            found = CountingWalker(top, rules, problems)
            assert paths_of(found.walk()) == [".gitignore", "src/a.py"]
    assert problems == []
    assert found.listed == 2


def test_a_folder_that_vanishes_while_it_is_walked_is_told(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b/c.py", "d/e.py")
    problems = Problems()
    found: list[str] = []
    for folder in Walker(str(tmp_path), SelectionRules(), problems).walk():
        found += paths_of([folder])
        if folder.path == "":
            (tmp_path / "b" / "c.py").unlink()
            (tmp_path / "b").rmdir()
            (tmp_path / "d").rename(tmp_path / "elsewhere")
            (tmp_path / "d").symlink_to("elsewhere")
    assert found == ["a.py"]
    assert problems[0] == ("b", "it vanished")
    assert problems[1][0] == "d"


def test_reasons_are_remembered_when_they_are_asked_for(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b.log", "d/c.txt", "e.md")
    plant(tmp_path, {".contextfiles": "*.log\nd/\n!*.md"})
    found = Walker(str(tmp_path), SelectionRules(), reasons={})
    list(found.walk())
    assert found.reasons is not None
    assert {path: decision.rule and decision.rule.text for path, decision in found.reasons.items()} == {
        "a.py": None,
        "b.log": "*.log",
        "d/c.txt": "d/",
    }


def test_the_rule_files_of_the_folders_above_count_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "a.txt\n", ".contextfiles": "!a.txt"})
    plant_repository(tmp_path / "repo", exclude="/src/lib/e.txt\n")
    plant_names(tmp_path, *(f"repo/src/lib/{name}.txt" for name in "abcde"))
    plant(
        tmp_path,
        {"repo/.gitignore": "/src/lib/b.txt\n", "repo/src/.gitignore": "lib/c.txt", "repo/src/.contextfiles": "!d.txt"},
    )
    assert selected(tmp_path / "repo" / "src" / "lib") == ["a.txt"]


def test_a_folder_above_that_cannot_be_read_brings_no_rules() -> None:
    with scratch() as top:
        plant_repository(top)
        plant(top, {".gitignore": "a", "closed/.gitignore": "b", "closed/open/a": "", "closed/open/b": ""})
        os.chmod(f"{top}/closed", 0o311)
        with as_nobody():
            assert selected(f"{top}/closed/open") == ["b"]


def test_an_inclusion_of_a_folder_counts_when_the_folder_is_named_as_target(tmp_path: Path) -> None:
    plant_names(tmp_path, "src/build/a.py", "docs/build/a.md", "src/x.log")
    assert paths_of(walker(tmp_path, "src/").walk("src")) == ["src/x.log", "src/build/a.py"]
    assert paths_of(walker(tmp_path, "src/").walk("docs")) == []
    plant_repository(tmp_path)
    plant(tmp_path, {".contextfiles": "src/"})
    assert selected(tmp_path / "src") == ["x.log", "build/a.py"]
    assert selected(tmp_path / "src", "!*.log") == ["build/a.py"]


def test_a_target_on_the_way_through_a_repository_starts_its_rules_anew(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.txt"})
    plant_repository(tmp_path / "repo", exclude="e.txt\n")
    plant_names(tmp_path, "repo/sub/a.txt", "repo/sub/e.txt", "other.txt")
    assert paths_of(walker(tmp_path).walk("repo/sub")) == ["repo/sub/a.txt"]
    assert paths_of(walker(tmp_path).walk("repo")) == ["repo/sub/a.txt"]


def test_a_folder_whose_name_starts_with_dots_may_be_a_repository(tmp_path: Path) -> None:
    plant_repository(tmp_path / "..odd", exclude="a.txt\n")
    plant_names(tmp_path, "..odd/a.txt", "..odd/b.txt")
    assert selected(tmp_path) == ["..odd/b.txt"]


@pytest.mark.parametrize("inner", ["", "inner"])
def test_case_is_ignored_where_a_repository_says_so(inner: str, tmp_path: Path) -> None:
    place = tmp_path / inner
    plant_repository(place, config="\tignoreCase = true\n")
    plant(place, {".gitignore": "*.TXT\n", "sub/.gitignore": "A.MD\n"})
    plant_names(place, "a.txt", "sub/a.md", "sub/b.md", "sub/deep/A.md")
    assert [path for path in selected(tmp_path) if path.endswith(".md")] == [os.path.join(inner, "sub/b.md")]
    assert selected(place / "sub") == [".gitignore", "b.md"]
    plant(tmp_path, {"plain/.gitignore": "*.TXT", "plain/b.txt": ""})
    if inner:
        assert "plain/b.txt" in selected(tmp_path)


def test_the_users_own_ignore_file_counts_in_every_repository(tmp_path: Path) -> None:
    plant(tmp_path, {"ignore": "*.own\n"})
    user = UserGitFiles(excludes=str(tmp_path / "ignore"))
    plant_names(tmp_path, "top/a.own", "top/repo/b.own", "top/c")
    assert paths_of(Walker(str(tmp_path / "top"), SelectionRules(user_git_files=user)).walk()) == [
        "a.own",
        "c",
        "repo/b.own",
    ]
    plant_repository(tmp_path / "top" / "repo")
    assert paths_of(Walker(str(tmp_path / "top"), SelectionRules(user_git_files=user)).walk()) == ["a.own", "c"]


def test_without_ignore_files_context_rules_still_count(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "a", "a": "", "b": "", "d/.contextfiles": "!c", "d/c": "", "d/a": ""})
    assert selected(tmp_path, ignores=False) == [".gitignore", "a", "b", "d/a"]


def test_errors_are_told_in_words() -> None:
    assert describe_os_error(MountLoop("x")) == "mounted inside itself"
    assert describe_os_error(PermissionError(13, "Permission denied")) == "permission denied"
    assert describe_os_error(FileNotFoundError(2, "No such file")) == "it vanished"
    assert describe_os_error(OSError(40, "Too many levels of symbolic links")) == "too many levels of symbolic links"
    assert describe_os_error(OSError()) == "cannot be read"
    assert isinstance(unreadable_error("x", OSError(5, "Input/output error")), Refused)


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=8, unique=True))
def test_whatever_the_files_are_called_all_are_found(raw: list[bytes]) -> None:
    names = {os.fsdecode(b"f-" + name.replace(b"/", b"").replace(b"\0", b"")) for name in raw}
    with scratch() as top:
        plant_names(top, *names)
        assert set(selected(top, defaults=False, ignores=False)) == names


def test_a_walk_from_an_open_folder_shows_every_folder_while_it_is_open(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.x\n", "d/a.py": "", "d/b.x": "", "d/e/f.py": "", "d/node_modules/g.js": ""})
    (tmp_path / "d/link").symlink_to("a.py")
    walk = Walker(str(tmp_path), SelectionRules())
    with DirfdWalk(os.open(tmp_path / "d", os.O_RDONLY)) as descent:
        found = [
            (path, names, [visit.name for visit in below], links, os.listdir(fd))
            for path, names, below, links, fd in walk.walk_from(descent, "d", list_folder)
        ]
    (top, below) = found
    assert (*top[:4], len(top[4])) == ("d", ["a.py"], ["e"], ["link"], 5)
    assert below == ("d/e", ["f.py"], [], [], ["f.py"])


def test_context_rules_can_be_left_out_of_a_ruling(tmp_path: Path) -> None:
    plant(tmp_path, {".contextfiles": "!a.py\n", "a.py": "", "b.py": ""})
    assert paths_of(Walker(str(tmp_path), SelectionRules()).walk()) == ["b.py"]
    assert paths_of(Walker(str(tmp_path), SelectionRules(context_files=False)).walk()) == ["a.py", "b.py"]


def test_a_listing_tells_files_folders_links_and_what_rules(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "", ".ignore": "", "d/": "", ".git/": ""})
    (tmp_path / "link").symlink_to("d")
    os.mkfifo(tmp_path / "pipe")
    fd = os.open(tmp_path, os.O_RDONLY)
    files, folders, links, rules, special = list_folder(fd)
    os.close(fd)
    assert (sorted(files), sorted(folders), links) == ([".ignore", "a"], [".git", "d"], ["link"])
    assert (rules, special) == ([".ignore", ".git"], 1)
