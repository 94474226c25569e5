import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.people import as_nobody
from marid.core.errors import BadInput, MaridError, NotFound, Refused
from marid.faces.mcp.roots import AllowedRoots, resolve_roots, resolve_target


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "file.txt").write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.txt").write_text("x")
    return tmp_path / "root"


@pytest.fixture
def roots(root: Path) -> AllowedRoots:
    return resolve_roots([str(root)], "/")


@pytest.fixture
def locked() -> Iterator[str]:
    """A folder that everybody may reach and nobody but root may read."""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        folder = os.path.join(top, "locked")
        os.mkdir(folder, 0o000)
        yield folder
        os.chmod(folder, 0o700)


def test_the_root_and_what_is_below_may_be_read(root: Path, roots: AllowedRoots) -> None:
    assert roots.resolve_folder(str(root)) == str(root)
    assert roots.resolve_folder(f"{root}/sub/") == str(root / "sub")
    assert roots.resolve_folder(f"{root}/sub/..") == str(root)


def test_the_whole_disk_may_be_a_root(root: Path) -> None:
    assert AllowedRoots(("/",)).resolve_folder(str(root)) == str(root)


@pytest.mark.parametrize("path", ["sub", ".", "", "~/project", "https://example.com/a.git", "owner/name"])
def test_a_path_that_is_not_absolute_is_bad_input(roots: AllowedRoots, path: str) -> None:
    with pytest.raises(BadInput, match="is not an absolute path"):
        roots.resolve_folder(path)


def test_a_missing_folder_is_not_found(root: Path, roots: AllowedRoots) -> None:
    with pytest.raises(NotFound, match="nope' is not there"):
        roots.resolve_folder(f"{root}/nope")


def test_a_file_is_told_from_a_folder(root: Path, roots: AllowedRoots) -> None:
    with pytest.raises(BadInput, match="is a file: give its folder as 'path' and the file in 'targets'"):
        roots.resolve_folder(f"{root}/file.txt")


def test_a_special_file_is_neither(root: Path, roots: AllowedRoots) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        roots.resolve_folder(f"{root}/pipe")


def test_a_nul_byte_is_bad_input(root: Path, roots: AllowedRoots) -> None:
    with pytest.raises(BadInput, match="NUL"):
        roots.resolve_folder(f"{root}/\0")


def test_a_loop_of_links_is_not_there(root: Path, roots: AllowedRoots) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises(NotFound):
        roots.resolve_folder(f"{root}/loop")


@pytest.mark.parametrize("path", ["{top}/elsewhere", "{top}/root2", "{top}", "/", "{root}/../elsewhere", "{top}/nope"])
def test_what_is_outside_is_refused_whether_it_exists_or_not(root: Path, roots: AllowedRoots, path: str) -> None:
    (root.parent / "root2").mkdir()
    given = path.format(root=root, top=root.parent)
    with pytest.raises(Refused, match=r"is outside the folders .* --root DIR") as caught:
        roots.resolve_folder(given)
    assert str(root) not in str(caught.value).replace(given, "")


def test_a_link_out_of_the_root_is_refused_without_naming_where_it_leads(root: Path, roots: AllowedRoots) -> None:
    (root / "way").symlink_to(root.parent / "elsewhere")
    with pytest.raises(Refused) as caught:
        roots.resolve_folder(f"{root}/way")
    assert "elsewhere" not in str(caught.value)


def test_a_link_within_the_root_is_followed(root: Path, roots: AllowedRoots) -> None:
    (root / "way").symlink_to("sub")
    assert roots.resolve_folder(f"{root}/way") == str(root / "sub")


def test_a_root_may_be_named_by_a_link(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    roots = resolve_roots([str(link)], "/")
    assert roots.folders == (str(root),)
    assert roots.resolve_folder(str(link)) == roots.resolve_folder(str(root)) == str(root)


def test_several_roots_each_count_once(root: Path) -> None:
    elsewhere = str(root.parent / "elsewhere")
    roots = resolve_roots(["root", elsewhere, "root/."], str(root.parent))
    assert roots.folders == (str(root), elsewhere)
    assert roots.resolve_folder(elsewhere) == elsewhere


@pytest.mark.parametrize(("given", "family"), [("nope", NotFound), ("file.txt", BadInput)])
def test_a_root_that_is_no_folder_is_an_error(root: Path, given: str, family: type[MaridError]) -> None:
    with pytest.raises(family, match=given):
        resolve_roots([given], str(root))


def test_a_folder_without_permission_is_refused(locked: str) -> None:
    with as_nobody(), pytest.raises(Refused, match=r"locked' cannot be read: no permission"):
        AllowedRoots(("/",)).resolve_folder(locked)
    with as_nobody(), pytest.raises(Refused, match=r"locked' cannot be read: no permission"):
        resolve_roots([locked], "/")
    with as_nobody(), pytest.raises(Refused, match=r"'locked' cannot be read: no permission"):
        resolve_target(os.path.dirname(locked), "locked")


def test_a_folder_that_cannot_be_reached_is_refused(locked: str) -> None:
    with as_nobody(), pytest.raises(Refused, match=r"below' cannot be read: no permission"):
        AllowedRoots(("/",)).resolve_folder(f"{locked}/below")


def test_targets_are_files_and_folders_below(root: Path) -> None:
    assert resolve_target(str(root), "file.txt") == str(root / "file.txt")
    assert resolve_target(str(root), "sub/../sub") == str(root / "sub")
    assert resolve_target(str(root), f"{root}/sub") == str(root / "sub")
    assert resolve_target(str(root), ".") == str(root)


@pytest.mark.parametrize("target", ["..", "../elsewhere/secret.txt", "/etc/passwd", "way", "way/secret.txt", "../nope"])
def test_a_target_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "way").symlink_to(root.parent / "elsewhere")
    with pytest.raises(Refused, match=f"the target '{target}' leads out of 'path'") as caught:
        resolve_target(str(root), target)
    assert str(root.parent) not in str(caught.value)


def test_a_target_must_be_there_and_be_a_file_or_a_folder(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(NotFound, match="'nope' is not there"):
        resolve_target(str(root), "nope")
    with pytest.raises(BadInput, match="'pipe' is neither"):
        resolve_target(str(root), "pipe")
    with pytest.raises(BadInput, match="NUL"):
        resolve_target(str(root), "a\0b")
