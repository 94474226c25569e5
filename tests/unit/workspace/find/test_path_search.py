import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.workspace.find.path_search import (
    FoundPaths,
    PathSearchLimits,
    closest_names,
    find_paths,
    not_found_error,
    parse_path_pattern,
    split_literal_prefix,
)
from marid.workspace.guard.api import PathScope


@pytest.mark.parametrize(
    ("pattern", "path", "matched"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**/test_?.py", "src/test_1.py", True),
        ("src/**/test_?.py", "src/a/b/test_1.py", True),
        ("src/**/test_?.py", "lib/test_1.py", False),
        ("**", "a/b", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("./a.py", "a.py", True),
        ("a//b", "a/b", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("*.{ts,tsx}", "a.js", False),
        ("{src,lib}/{a,b}.py", "lib/b.py", True),
        ("{a,{b,c}}.py", "c.py", True),
        ("{a}.py", "{a}.py", True),
        ("a{.py", "a{.py", True),
        ("}{.py", "}{.py", True),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("a b/c\nd", "a b/c\nd", True),
        ("**/a/**/b", "x/a/y/a/b", True),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, path: str, matched: bool) -> None:
    assert parse_path_pattern(pattern).matches(path) is matched


def test_a_pattern_without_a_slash_may_mean_any_folder() -> None:
    assert parse_path_pattern("*.py", anywhere=True).matches("a/b/c.py")
    assert not parse_path_pattern("a/*.py", anywhere=True).matches("x/a/c.py")


@given(
    st.lists(st.sampled_from(["a", "b", "*", "?", "**", "a*"]), min_size=1, max_size=5),
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5),
)
def test_stars_mean_what_they_say(parts: list[str], names: list[str]) -> None:
    if parts[-1] == "**":
        parts = [*parts, "*"]
    spelled = "".join(
        "(?:[^/]+/)*" if part == "**" else re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") + "/"
        for part in parts
    )
    path = "/".join(names)
    assert parse_path_pattern("/".join(parts)).matches(path) is bool(re.fullmatch(spelled, path + "/"))


@pytest.mark.parametrize(
    "pattern",
    [
        "../*",
        "**/../../*",
        "/etc/*",
        "a/../*",
        "..",
        "",
        "  ",
        "[!",
        "a/[b",
        "x\0",
        "~/x",
        "/",
        "./.",
        "a" * 1_001,
        "{..,a}/x",
    ],
)
def test_a_pattern_that_leads_out_or_is_malformed_is_refused(pattern: str) -> None:
    with pytest.raises(BadInput, match="invalid pattern"):
        parse_path_pattern(pattern)


@pytest.mark.parametrize("pattern", ["{a,b}" * 20, "{" + ",".join("a" * 200) + "}", "{{a,b},{c,d}}" * 9])
def test_braces_that_mean_too_much_are_refused_at_once(pattern: str) -> None:
    with pytest.raises(BadInput, match="braces expand to more than 64"):
        parse_path_pattern(pattern)


def test_deep_braces_and_many_stars_take_no_time() -> None:
    assert parse_path_pattern("{" * 300 + "a,b" + "}" * 300).matches("{" * 299 + "a" + "}" * 299)
    pattern = parse_path_pattern("/".join(["**", "*a*a*a*a*a*b"] * 20))
    assert not pattern.matches("/".join(["a" * 200] * 100))


def test_a_pattern_tells_what_it_names() -> None:
    assert parse_path_pattern("**/.github/*").names_hidden
    assert not parse_path_pattern("**/*.py").names_hidden
    assert parse_path_pattern("**/node_modules/*").names_folders
    assert not parse_path_pattern("**/*/x").names_folders
    assert parse_path_pattern("a/").folders_only


@pytest.mark.parametrize(
    ("pattern", "start"),
    [
        ("a.py", ("", "a.py")),
        ("src/a.py", ("src", "a.py")),
        ("src/lib/*.py", ("src/lib", "*.py")),
        ("src/*/b/c.py", ("src", "*/b/c.py")),
        ("**/a", ("", "**/a")),
        ("{a,b}/c", ("", "{a,b}/c")),
    ],
)
def test_the_folders_that_a_pattern_begins_with_are_known(pattern: str, start: tuple[str, str]) -> None:
    assert split_literal_prefix(pattern) == start


def found(
    folder: Path, pattern: str, paths: int = 100, seconds: float = 60.0, *, files_only: bool = False
) -> FoundPaths:
    walk = PathScope([str(folder)]).resolve(".").walk()
    return find_paths(walk, parse_path_pattern(pattern), PathSearchLimits(paths, seconds), files_only=files_only)


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_files_and_folders_are_found(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "src/b/c.py", "d.py")
    assert found(tmp_path, "**/*.py").paths == ["d.py", "src/a.py", "src/b/c.py"]
    assert found(tmp_path, "*").paths == ["d.py", "src/"]
    assert found(tmp_path, "*", files_only=True).paths == ["d.py"]
    assert found(tmp_path, "**/").paths == ["src/", "src/b/"]


def test_folders_that_cannot_match_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "src/a/x.py", "lib/a/x.py", "lib/b/c/x.py")
    assert found(tmp_path, "lib/*/x.py").paths == ["lib/a/x.py"]


def test_there_are_no_more_than_wanted(tmp_path: Path) -> None:
    make(tmp_path, "a", "b", "c")
    assert found(tmp_path, "*", 2) == FoundPaths(["a", "b"], has_more=True)
    assert found(tmp_path, "*", 3) == FoundPaths(["a", "b", "c"])


def test_it_ends_when_time_is_up(tmp_path: Path) -> None:
    make(tmp_path, "a")
    assert found(tmp_path, "*", seconds=-1) == FoundPaths([], timed_out=True)


def test_the_nearest_names_in_the_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("settings.py", "Other.md"):
        (tmp_path / "src" / name).touch()
    place = PathScope([str(tmp_path)]).resolve("src/setting.py")
    assert str(not_found_error(place, "src/setting.py")) == "src/setting.py: not found; similar: settings.py"
    place = PathScope([str(tmp_path)]).resolve("src/zzz")
    assert str(not_found_error(place, "src/zzz")) == "src/zzz: not found"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    place = PathScope([str(tmp_path)]).resolve("no/such")
    assert str(not_found_error(place, "no/such")) == "no/such: not found, and neither is its folder"


def test_case_is_no_difference_and_names_are_shown_safely() -> None:
    assert closest_names("readme.md", ["README.md", "x"]) == ["README.md"]
    assert closest_names("a\nb", ["a\nbc"]) == ['"a\\nbc"']
