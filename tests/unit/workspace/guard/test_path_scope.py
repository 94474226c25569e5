import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.files import OPENERS, both_openers
from fakes.trees import plant, scratch
from marid.core.errors import BadInput, MaridError, NotFound, OutsideRoots, Refused
from marid.workspace.guard.openat import OpenBeneath
from marid.workspace.guard.path_scope import GuardedAccess, PathScope, follow_links
from marid.workspace.read import FileReader, measure_files
from marid.workspace.walk import Folder, SelectionRules, Walker


def test_nothing_given_means_nothing_allowed(tmp_path: Path) -> None:
    for raw in (".", "a", str(tmp_path), "/etc/passwd"):
        with pytest.raises(Refused):
            PathScope([]).resolve(raw)


@both_openers
def test_the_first_root_resolves_relative_paths_and_all_take_absolute_ones(
    tmp_path: Path, opening: OpenBeneath
) -> None:
    plant(tmp_path, {"one/a": "1", "two/a": "2", "three/a": "3"})
    territory = PathScope([f"{tmp_path}/one/", str(tmp_path / "two")], opening=opening)
    assert territory.resolve("a").read() == b"1"
    assert territory.resolve(f"{tmp_path}/two/a").read() == b"2"
    assert territory.resolve("../two/a").read() == b"2"
    with pytest.raises(OutsideRoots, match=f"'{tmp_path}/three/a' is outside the project"):
        territory.resolve(f"{tmp_path}/three/a")


def test_what_is_outside_says_what_a_person_might_open(tmp_path: Path) -> None:
    territory = PathScope([str(tmp_path)])
    with pytest.raises(OutsideRoots) as caught:
        territory.resolve("../x//y")
    assert caught.value.path == os.path.join(os.path.dirname(tmp_path), "x/y")
    assert str(caught.value) == "'../x//y' is outside the project; --root DIR allows another folder"


@both_openers
def test_a_single_file_grants_itself_and_not_its_folder(tmp_path: Path, opening: OpenBeneath) -> None:
    plant(tmp_path, {"r/a": "1", "etc/one.toml": "one", "etc/two.toml": "two"})
    (tmp_path / "etc/link").symlink_to("one.toml")
    territory = PathScope([str(tmp_path / "r")], [str(tmp_path / "etc/link")], opening=opening)
    assert territory.resolve(f"{tmp_path}/etc/one.toml").read() == b"one"
    assert territory.resolve("../etc/one.toml").read() == b"one"
    for raw in ("etc/two.toml", "etc", "etc/.", "etc/one.toml/..", "etc/one.toml/../two.toml"):
        with pytest.raises(OutsideRoots):
            territory.resolve(f"{tmp_path}/{raw}")


def test_a_granted_file_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"etc/one.toml": "one", "etc/two.toml": "two"})
    territory = PathScope([], [str(tmp_path / "etc/one.toml")])
    (tmp_path / "etc/one.toml").unlink()
    (tmp_path / "etc/one.toml").symlink_to("two.toml")
    with pytest.raises(Refused):
        territory.resolve(f"{tmp_path}/etc/one.toml").read()


def test_a_granted_file_need_not_be_there_and_its_folder_neither(tmp_path: Path) -> None:
    territory = PathScope([], [str(tmp_path / "new.txt"), str(tmp_path / "no/new.txt")])
    with pytest.raises(NotFound):
        territory.resolve(f"{tmp_path}/new.txt").read()
    with pytest.raises(OutsideRoots):
        territory.resolve(f"{tmp_path}/no/new.txt")


def test_one_path_more_is_another_territory(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "1", "more/b": "2", "file.txt": "3"})
    territory = PathScope([str(tmp_path / "r")])
    more, file = f"{tmp_path}/more", f"{tmp_path}/file.txt"
    with territory.widen(more, more) as folder, folder.widen(file, file) as both:
        assert [both.resolve(f"{tmp_path}/{name}").read() for name in ("r/a", "more/b", "file.txt")] == [
            b"1",
            b"2",
            b"3",
        ]
        with pytest.raises(OutsideRoots):
            folder.resolve(f"{tmp_path}/file.txt")
        with pytest.raises(OutsideRoots):
            territory.resolve(f"{tmp_path}/more/b")
    assert territory.resolve("a").read() == b"1"


def test_what_cannot_be_opened_to_a_caller_is_said(tmp_path: Path) -> None:
    territory = PathScope([str(tmp_path)])
    with pytest.raises(BadInput, match="absolute path"):
        territory.widen("a", "a")
    with pytest.raises(NotFound, match="no/where"):
        territory.widen(f"{tmp_path}/no/where", f"{tmp_path}/no/where")


def test_widening_does_not_open_the_home(tmp_path: Path) -> None:
    plant(tmp_path, {"r/": "", "home/key": "canary"})
    territory = PathScope([str(tmp_path / "r")], home=str(tmp_path / "home"))
    for path in (tmp_path, tmp_path / "home", tmp_path / "home/key"):
        with territory.widen(str(path), str(path)) as wider, pytest.raises(Refused, match="protected"):
            wider.resolve(f"{tmp_path}/home/key")


@pytest.mark.parametrize("raw", ["", " ", "\n", "\t \r", "ok.txt\0.png", "x" * 256, "y/" * 3000, "é" * 128, "a\ud800b"])
def test_what_is_no_path_is_bad_input(tmp_path: Path, raw: str) -> None:
    with pytest.raises(BadInput):
        PathScope([str(tmp_path)]).resolve(raw)


@pytest.mark.parametrize("raw", ["~/.ssh/id_rsa", "~root/x", "$HOME/x", "${HOME}/x", "%USERPROFILE%/x"])
def test_nothing_is_expanded(tmp_path: Path, raw: str) -> None:
    with pytest.raises(Refused, match="are not expanded"):
        PathScope([str(tmp_path)]).resolve(raw)


def test_such_a_name_can_still_be_meant_literally(tmp_path: Path) -> None:
    plant(tmp_path, {"~/a": "tilde"})
    assert PathScope([str(tmp_path)]).resolve("./~/a").read() == b"tilde"


@pytest.mark.parametrize("raw", ["%2e%2e%2fetc", "..%252f", "．．／out", "A.TXT", "C:foo", "..\\x", "e\u0301"])
def test_names_are_taken_byte_for_byte(tmp_path: Path, raw: str) -> None:
    plant(tmp_path, {"a.txt": "", "\u00e9": ""})
    with pytest.raises(NotFound):
        PathScope([str(tmp_path)]).resolve(raw).read()


def test_a_name_that_is_no_text_can_be_given_as_it_was_listed(tmp_path: Path) -> None:
    plant(tmp_path, {"\udcff.txt": "odd"})
    territory = PathScope([str(tmp_path)])
    (entry,) = territory.resolve(".").entries()
    assert territory.resolve(entry.name).read() == b"odd"
    with pytest.raises(NotFound, match=r"\\376"):
        territory.resolve("\udcfe").read()


def test_withheld_and_unwritable_names_are_refused_while_parsing(tmp_path: Path) -> None:
    territory = PathScope([str(tmp_path)], home=str(tmp_path / "home"))
    for raw in ("history.toml", "a/B_HISTORY.toml", "home/x", f"{tmp_path}/home"):
        with pytest.raises(Refused, match=f"{raw}: protected"):
            territory.resolve(raw)
    territory.resolve(".git/config")
    with pytest.raises(Refused, match=r"\.git/config: only git"):
        territory.resolve(".git/config", write=True)


def test_a_closed_territory_serves_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"a": ""})
    with PathScope([str(tmp_path)]) as territory:
        where = territory.resolve("a")
    with pytest.raises(Refused, match="a: the project folder is gone"):
        where.read()


def test_a_root_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        PathScope([str(tmp_path / "nowhere")])


def test_what_is_to_be_written_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="names a folder"):
        PathScope([str(tmp_path)]).resolve("new/", write=True)


PARTS = [
    "..",
    ".",
    "",
    "a",
    "b.txt",
    "out",
    "secret.txt",
    "up",
    "abs",
    "in",
    "loop",
    "here",
    "history.toml",
    "home",
    "~",
]


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=12), st.booleans(), st.sampled_from(OPENERS))
def test_no_path_whatsoever_leads_out(parts: list[str], absolute: bool, opening: OpenBeneath) -> None:
    with scratch() as top:
        plant(top, {"r/a/b.txt": "in", "r/a/a/b.txt": "in", "r/history.toml": "canary", "r/home/b.txt": "canary"})
        plant(top, {"out/secret.txt": "canary", "out/b.txt": "canary", "b.txt": "canary", "secret.txt": "canary"})
        links = {
            "up": "..",
            "a/up": "../..",
            "abs": f"{top}/out",
            "in": "a",
            "loop": "loop",
            "here": ".",
            "a/here": "../a/..",
        }
        for link, target in links.items():
            os.symlink(target, f"{top}/r/{link}")
        with PathScope([f"{top}/r"], home=f"{top}/r/home", opening=opening) as territory:
            raw = "/".join([f"{top}/r", *parts] if absolute else parts)
            for look in ("read", "entries", "walk"):
                try:
                    seen = list(getattr(territory.resolve(raw), look)())
                except MaridError:
                    continue
                assert bytes(seen) == b"in" if look == "read" else "secret.txt" not in str(seen)
                assert "history" not in str(seen)
                assert "home" not in str(seen)


def test_a_path_that_leads_elsewhere_than_somebody_agreed_to_is_refused(tmp_path: Path) -> None:
    for name in ("root", "seen", "secret"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with PathScope([f"{tmp_path}/root"]) as territory, pytest.raises(Refused, match="leads elsewhere now"):
        territory.widen(f"{tmp_path}/link", f"{tmp_path}/seen")


@pytest.fixture
def scope(tmp_path: Path) -> PathScope:
    plant(tmp_path, {"r/src/a.py": "inside", "r/src/history.toml": "canary", "r/home/key": "canary", "out/x": "canary"})
    (tmp_path / "r" / "way").symlink_to("src")
    (tmp_path / "r" / "gone").symlink_to("../out")
    os.link(tmp_path / "r" / "src" / "history.toml", tmp_path / "r" / "src" / "other")
    return PathScope([str(tmp_path / "r")], home=str(tmp_path / "r" / "home"))


def test_a_link_inside_is_followed_to_its_real_name(scope: PathScope) -> None:
    folder = follow_links(scope.resolve("way"))
    assert (folder.name, folder.given) == ("src", "way")
    assert follow_links(scope.resolve("."), "way/a.py").name == "src/a.py"
    assert follow_links(folder, f"{folder.root.path}/src/a.py").name == "src/a.py"


@pytest.mark.parametrize(
    ("below", "error"),
    [("gone", Refused), ("gone/x", Refused), ("..", Refused), ("home", Refused), ("src/history.toml", Refused),
     ("nope", NotFound), ("a\0", BadInput)],
)  # fmt: skip
def test_what_a_caller_may_not_read_is_an_error(scope: PathScope, below: str, error: type[MaridError]) -> None:
    with pytest.raises(error):
        follow_links(scope.resolve("."), below)


def test_a_walk_and_a_reader_leave_out_what_is_protected(scope: PathScope, tmp_path: Path) -> None:
    access = GuardedAccess(scope.resolve("."))
    folders = list(Walker(access.top, SelectionRules(), access=access).walk())
    assert folders == [Folder("src", ["a.py", "other"])]
    assert [file.path for file in measure_files(access.top, folders, access)] == ["src/a.py", "src/other"]
    problems: list[tuple[str, str]] = []
    reader = FileReader(access.top, lambda path, why: problems.append((path, why)), access=access)
    assert [content.data for content in reader.read(folders)] == [b"inside"]
    assert problems == [("src/other", "protected: no tool may use it")]
    with pytest.raises(Refused, match="leads elsewhere now"):
        access.open(str(tmp_path / "out"))
