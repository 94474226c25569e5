import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.files import as_nobody
from fakes.trees import plant, plant_repository, scratch
from fakes.worktree import new_worktree
from marid.workspace.rules.ignore_files import (
    IgnoreRepository,
    UserGitFiles,
    context_sources,
    find_repository,
    ignore_sources,
    read_rule_file,
    read_user_text,
    repository_at,
    repository_sources,
)
from marid.workspace.rules.parse import IGNORE, MAX_RULE_BYTES, NEAR

NOBODY = UserGitFiles()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY)
    yield fd
    os.close(fd)


def test_a_rule_file_is_read_whatever_bytes_it_holds(tmp_path: Path, folder: int) -> None:
    plant(tmp_path, {"rules": b"a\xff\n\xc3\xa9\x00", "empty": b""})
    assert read_rule_file("rules", folder) == "a\udcff\né\0"
    assert read_rule_file("empty", folder) == ""


def test_what_is_no_readable_regular_file_holds_no_rules(tmp_path: Path, folder: int) -> None:
    plant(tmp_path, {"folder/": "", "huge": b"a" * (MAX_RULE_BYTES + 1), "real": b"a"})
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("real")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{folder}/socket")
        for name in ("folder", "huge", "fifo", "link", "socket", "missing"):
            assert read_rule_file(name, folder) is None, name
    for name in ("folder", "huge", "fifo", "missing", "nul\0"):
        assert read_user_text(str(tmp_path / name)) is None, name


def test_a_rule_file_without_permission_holds_no_rules() -> None:
    with scratch() as place:
        plant(place, {".gitignore": "a"})
        os.chmod(f"{place}/.gitignore", 0)
        fd = os.open(place, os.O_RDONLY)
        with as_nobody():
            assert read_rule_file(".gitignore", fd) is None
            assert read_user_text(f"{place}/.gitignore") is None
        os.close(fd)


def test_a_file_named_by_its_path_may_be_a_link(tmp_path: Path) -> None:
    plant(tmp_path, {"real": "a"})
    (tmp_path / "link").symlink_to("real")
    assert read_user_text(str(tmp_path / "link")) == "a"


def test_sources_know_their_rank_and_where_they_stand(tmp_path: Path, folder: int) -> None:
    plant(tmp_path, {".contextfiles": "!a", ".gitignore": "b", ".ignore": "c"})
    names = os.listdir(tmp_path)
    (near,) = context_sources(names, folder, "src/lib")
    assert (near.rank, near.origin, near.rules[0].text) == (NEAR, "src/lib/.contextfiles", "!a")
    found = ignore_sources(names, folder, "", fold=True)
    assert [(one.rank, one.origin, one.rules[0].text) for one in found] == [
        (IGNORE, ".ignore", "c"),
        (IGNORE, ".gitignore", "b"),
    ]
    assert all(one.ignore_case for one in found)


def test_a_folder_without_rule_files_brings_no_sources(folder: int) -> None:
    assert context_sources(["a.py"], folder, "") == []
    assert context_sources([".contextfiles"], folder, "") == []
    assert ignore_sources([".gitignore"], folder, "") == []


def test_the_repository_is_found_upwards(tmp_path: Path) -> None:
    plant_repository(tmp_path)
    plant(tmp_path, {"a/b/c.py": "", "a/.git/": ""})
    found = find_repository(str(tmp_path / "a" / "b"), NOBODY)
    assert found is not None
    assert found == IgnoreRepository(str(tmp_path), str(tmp_path / ".git/info/exclude"), "", False)
    assert find_repository("/", NOBODY) is None


def test_a_folder_named_like_a_repository_is_none(tmp_path: Path) -> None:
    plant(tmp_path, {"empty/.git/": "", "text/.git": "no gitdir here", "dangling/.git": "gitdir: /nowhere/at/all"})
    for name in ("empty", "text", "dangling", "missing"):
        assert repository_at(str(tmp_path / name), NOBODY) is None


def test_a_worktree_uses_the_rules_of_its_repository(tmp_path: Path) -> None:
    tree = new_worktree(tmp_path)
    tree.commit("first", {"a": b""})
    tree.write(".git/info/exclude", b"secret\n")
    tree.git("worktree", "add", "--quiet", "../second")
    found = repository_at(str(tmp_path / "second"), NOBODY)
    assert found is not None
    assert os.path.realpath(found.exclude) == str(tmp_path / "project/.git/info/exclude")
    assert [source.rules[0].text for source in repository_sources(found)] == ["secret"]


def test_a_submodule_says_where_its_repository_is(tmp_path: Path) -> None:
    plant_repository(tmp_path / "elsewhere", exclude="x\n")
    plant(tmp_path, {"sub/.git": "gitdir: ../elsewhere/.git\n"})
    found = repository_at(str(tmp_path / "sub"), NOBODY)
    assert found is not None
    assert repository_sources(found)[0].rules[0].text == "x"


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ("excludesFile = /x/ignore", "/x/ignore"),
        ("EXCLUDESFILE=/x/ignore", "/x/ignore"),
        ("excludesfile = ~/ignore", "/home/ada/ignore"),
        ("excludesfile = rel/ignore", "{top}/rel/ignore"),
        ("excludesfile = /x/a b  # comment", "/x/a b"),
        ("excludesfile = /x/a;comment", "/x/a"),
        ('excludesfile = "/x/a # b " ; c', "/x/a # b "),
        ('excludesfile = /x/"a  b"/c ', "/x/a  b/c"),
        (r'excludesfile = "/x/\"a\"\\b\tc"', '/x/"a"\\b\tc'),
        ("excludesfile = /first\n\texcludesfile = /second", "/second"),
        ("excludesfile =", ""),
        ("other = /x/ignore", "/default/ignore"),
        ("# excludesfile = /x\n; excludesfile = /y", "/default/ignore"),
    ],
)
def test_the_users_own_ignore_file_is_named_by_the_configuration(config: str, place: str, tmp_path: Path) -> None:
    plant_repository(tmp_path, config=f"\t{config}\n[other]\n\texcludesFile = /not/this\n")
    found = repository_at(str(tmp_path), UserGitFiles(excludes="/default/ignore", home="/home/ada"))
    assert found is not None
    assert found.excludes_file == place.format(top=tmp_path)


def test_configurations_of_the_user_are_weaker_than_the_repositorys(tmp_path: Path) -> None:
    plant_repository(tmp_path / "top", config="\tignoreCase = true\n")
    plant(
        tmp_path, {"system": "[core] excludesFile = /system", "user": "[core]\nexcludesFile = /user\nignoreCase=no\n"}
    )
    user = UserGitFiles(configs=(str(tmp_path / "system"), str(tmp_path / "user"), str(tmp_path / "missing")))
    found = repository_at(str(tmp_path / "top"), user)
    assert found is not None
    assert (found.excludes_file, found.ignore_case) == ("/user", True)


@pytest.mark.parametrize(
    ("line", "ignored"),
    [
        ("ignoreCase", True),
        ("ignorecase = Yes", True),
        ("ignorecase = 1", True),
        ("ignorecase =", False),
        ("ignorecase = off", False),
    ],
)
def test_whether_case_counts_is_read_as_git_reads_it(line: str, ignored: bool, tmp_path: Path) -> None:
    plant_repository(tmp_path, config=f"{line}\n")
    found = repository_at(str(tmp_path), NOBODY)
    assert found is not None
    assert found.ignore_case is ignored


def test_included_configurations_are_read_and_a_circle_ends(tmp_path: Path) -> None:
    plant_repository(tmp_path, config="[include]\n\tpath = ../more\n\tpath = ~/mine\n")
    plant(tmp_path, {"more": "[include]\npath = .git/config\n[core]\nexcludesFile = /more\n"})
    plant(tmp_path, {"home/mine": "[core]\nignoreCase = true\n"})
    found = repository_at(str(tmp_path), UserGitFiles(home=str(tmp_path / "home")))
    assert found is not None
    assert (found.excludes_file, found.ignore_case) == ("/more", True)


def test_a_repositorys_own_rules_come_strongest_first(tmp_path: Path) -> None:
    plant(tmp_path, {"exclude": "a", "ignore": "b"})
    repository = IgnoreRepository(str(tmp_path), str(tmp_path / "exclude"), str(tmp_path / "ignore"), False)
    assert [source.rules[0].text for source in repository_sources(repository)] == ["a", "b"]
    missing = repository._replace(exclude=str(tmp_path / "missing"), excludes_file="")
    assert repository_sources(missing) == []


def test_a_repository_that_ignores_case_says_so_even_without_rules(tmp_path: Path) -> None:
    (source,) = repository_sources(IgnoreRepository(str(tmp_path), str(tmp_path / "missing"), "", True))
    assert source.ignore_case
    assert source.rules == ()
