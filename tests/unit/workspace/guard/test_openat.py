import errno
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from fakes.files import both_openers
from fakes.trees import plant, plant_chain, scratch
from marid.core.errors import BadInput, MaridError, NotFound, Refused, Unavailable
from marid.workspace.guard.openat import (
    PATH_ONLY,
    OpenBeneath,
    default_opener,
    has_openat2,
    open_component,
    open_stepwise,
    open_with_openat2,
    to_marid_error,
)


@pytest.fixture
def root(tmp_path: Path) -> Generator[int]:
    plant(tmp_path, {"root/a/b.txt": "inside", "root/c.txt": "c", "out/secret.txt": "canary"})
    fd = os.open(tmp_path / "root", PATH_ONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def content(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as file:
        return file.read()


def refused(opening: OpenBeneath, root: int, name: str, flags: int = os.O_RDONLY) -> int | None:
    with pytest.raises(OSError, match=r".") as caught:
        opening(root, name, flags)
    return caught.value.errno


def anything(_name: str) -> None:
    """Permit every name."""


@both_openers
def test_a_file_beneath_is_opened(root: int, opening: OpenBeneath) -> None:
    assert content(opening(root, "a/b.txt", os.O_RDONLY)) == b"inside"


@both_openers
def test_the_root_itself_is_a_dot(root: int, opening: OpenBeneath) -> None:
    fd = opening(root, ".", os.O_RDONLY | os.O_DIRECTORY)
    assert set(os.listdir(fd)) == {"a", "c.txt"}
    os.close(fd)


@both_openers
def test_a_descriptor_is_not_inherited(root: int, opening: OpenBeneath) -> None:
    fd = opening(root, "c.txt", os.O_RDONLY)
    assert not os.get_inheritable(fd)
    os.close(fd)


@both_openers
@pytest.mark.parametrize("name", ["..", "../out/secret.txt", "a/../../out/secret.txt"])
def test_nothing_leads_above_the_root(root: int, opening: OpenBeneath, name: str) -> None:
    assert refused(opening, root, name) == errno.EXDEV


@both_openers
def test_what_is_not_there_is_not_there(root: int, opening: OpenBeneath) -> None:
    assert refused(opening, root, "nothing") == errno.ENOENT
    assert refused(opening, root, "c.txt/x") == errno.ENOTDIR


@both_openers
@pytest.mark.parametrize("target", ["b.txt", "../../out/secret.txt", "/etc/passwd", "link", "nothing"])
def test_no_link_is_followed_unless_somebody_looks_where_it_leads(
    tmp_path: Path, root: int, opening: OpenBeneath, target: str
) -> None:
    (tmp_path / "root/a/link").symlink_to(target)
    assert refused(opening, root, "a/link") == errno.ELOOP
    assert refused(opening, root, "a/link", PATH_ONLY) == errno.ELOOP
    (tmp_path / "root/folder").symlink_to("a")
    assert refused(opening, root, "folder/b.txt") == errno.ELOOP


@both_openers
def test_a_pipe_is_opened_without_waiting(tmp_path: Path, root: int, opening: OpenBeneath) -> None:
    os.mkfifo(tmp_path / "root/pipe")
    os.close(opening(root, "pipe", os.O_RDONLY))


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("a/b.txt", "a/b.txt"),
        ("./a//b.txt", "a/b.txt"),
        ("a/../c.txt", "c.txt"),
        ("two", "c.txt"),
        ("a/b.txt/", "a/b.txt"),
    ],
)
def test_a_link_that_stays_beneath_is_followed_and_what_it_leads_to_is_judged(
    tmp_path: Path, root: int, target: str, leads: str
) -> None:
    (tmp_path / "root/one").symlink_to(target)
    (tmp_path / "root/two").symlink_to("c.txt")
    heard: list[str] = []
    os.close(open_stepwise(root, "one", os.O_RDONLY, heard.append))
    assert heard[-1] == leads


@pytest.mark.parametrize("flags", [os.O_RDONLY, PATH_ONLY, os.O_RDONLY | os.O_DIRECTORY])
@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("../out/secret.txt", errno.EXDEV),
        ("a/../../out", errno.EXDEV),
        ("/etc/passwd", errno.EXDEV),
        ("one", errno.ELOOP),
        ("nothing", errno.ENOENT),
    ],
)
def test_a_link_that_leads_out_or_in_circles_is_not(
    tmp_path: Path, root: int, target: str, code: int, flags: int
) -> None:
    (tmp_path / "root/one").symlink_to(target)
    with pytest.raises(OSError, match=r".") as caught:
        open_stepwise(root, "one", flags, anything)
    assert caught.value.errno == code


def test_a_link_to_the_root_and_one_that_ends_in_dots_are_folders(tmp_path: Path, root: int) -> None:
    (tmp_path / "root/here").symlink_to(".")
    (tmp_path / "root/up").symlink_to("a/..")
    for name in ("here", "up", "here/here"):
        fd = open_stepwise(root, name, os.O_RDONLY | os.O_DIRECTORY, anything)
        assert "c.txt" in os.listdir(fd)
        os.close(fd)


def test_also_a_folder_that_a_link_reaches_from_below_is_judged(tmp_path: Path, root: int) -> None:
    (tmp_path / "root/one").symlink_to("a/deep/..")
    (tmp_path / "root/a/deep").mkdir()
    for name, leads in {"one": "a", "one/..": "."}.items():
        heard: list[str] = []
        os.close(open_stepwise(root, name, os.O_RDONLY, heard.append))
        assert heard[-1] == leads


def test_whoever_judges_can_stop_it(tmp_path: Path, root: int) -> None:
    (tmp_path / "root/one").symlink_to("c.txt")

    def never(name: str) -> None:
        if name == "c.txt":
            raise Refused(name)

    with pytest.raises(Refused, match=r"c\.txt"):
        open_stepwise(root, "one", os.O_RDONLY, never)


@both_openers
def test_no_descriptor_is_lost(tmp_path: Path, root: int, opening: OpenBeneath) -> None:
    (tmp_path / "root/one").symlink_to("a/../../out")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("nothing", "a/b.txt/c", "../x", "one"):
        refused(opening, root, name)
    with pytest.raises(OSError, match=r"."):
        open_stepwise(root, "one", os.O_RDONLY, anything)
    assert len(os.listdir("/proc/self/fd")) == before


@both_openers
def test_a_deep_path_is_opened(opening: OpenBeneath) -> None:
    with scratch() as top:
        plant_chain(top, "d", 100, {"f.txt": "deep"})
        root = os.open(top, PATH_ONLY)
        assert content(opening(root, "d/" * 100 + "f.txt", os.O_RDONLY)) == b"deep"
        os.close(root)


def test_one_step_tells_a_link_from_what_cannot_be_opened(tmp_path: Path, root: int) -> None:
    (tmp_path / "root/one").symlink_to("c.txt")
    assert open_component(root, "one", os.O_RDONLY) == "c.txt"
    assert open_component(root, "one", PATH_ONLY) == "c.txt"
    with pytest.raises(NotADirectoryError):
        open_component(root, "c.txt", os.O_RDONLY | os.O_DIRECTORY)
    with pytest.raises(FileNotFoundError):
        open_component(root, "nothing", os.O_RDONLY)


def test_the_kernel_is_not_asked_where_it_does_not_know_the_call() -> None:
    def unknown(_root: int, _name: str, _flags: int) -> int:
        raise OSError(errno.ENOSYS, "no such call")

    assert not has_openat2(unknown)
    assert not has_openat2(platform="darwin")


def test_the_kernel_is_used_where_it_can() -> None:
    assert default_opener() is (open_with_openat2 if has_openat2() else open_stepwise)


@pytest.mark.parametrize(
    ("code", "family"),
    [
        (errno.ENOENT, NotFound),
        (errno.ENOTDIR, NotFound),
        (errno.EXDEV, Refused),
        (errno.ELOOP, Refused),
        (errno.EACCES, Refused),
        (errno.EROFS, Refused),
        (errno.ENAMETOOLONG, BadInput),
        (errno.ENXIO, BadInput),
        (errno.EAGAIN, Unavailable),
        (errno.ENOSPC, Unavailable),
        (errno.EMFILE, Unavailable),
    ],
)
def test_every_error_of_the_system_has_a_family_and_names_what_was_given(code: int, family: type[MaridError]) -> None:
    error = to_marid_error(OSError(code, os.strerror(code), "/somewhere/else"), "a\n.txt")
    assert type(error) is family
    assert '"a\\n.txt"' in str(error)
    assert "somewhere" not in str(error)


def test_an_error_without_words_is_told_too() -> None:
    assert "unknown error" in str(to_marid_error(OSError(), "a"))
