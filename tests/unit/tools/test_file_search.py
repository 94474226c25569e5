"""Finding files by name, as a caller does."""

from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.tools.file_search import glob_files, search_files


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    names = ("src/app.py", "src/lib/deep.py", "top.py", "node_modules/m/package.json", ".github/ci.yml", "made/x.py")
    for name in (*names, "src/node_modules/n/package.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("made/\n")
    return ToolCaller(tmp_path)


def found(hands: ToolCaller, pattern: str, path: str = ".") -> list[str]:
    return hands.text(search_files, path=path, pattern=pattern).split("\n")


def test_a_pattern_is_relative_to_the_folder(hands: ToolCaller) -> None:
    assert found(hands, "*.py") == ["top.py"]
    assert found(hands, "**/*.py") == ["src/app.py", "src/lib/deep.py", "top.py"]
    assert found(hands, "*.py", "src") == ["app.py"]
    assert found(hands, "*", "src") == ["app.py", "lib/"]
    assert found(hands, ".github/*") == [".github/ci.yml"]
    assert found(hands, "./src/*.py") == ["src/app.py"]


def test_what_is_ignored_is_found_when_it_is_named(hands: ToolCaller) -> None:
    assert found(hands, "**/package.json") == ["Nothing matches the pattern"]
    assert found(hands, "node_modules/*/package.json") == ["node_modules/m/package.json"]
    assert found(hands, "made/*") == ["made/x.py"]
    assert found(hands, "**/node_modules/*/package.json") == [
        "node_modules/m/package.json",
        "src/node_modules/n/package.json",
    ]


def test_a_pattern_that_begins_with_nothing_finds_nothing(hands: ToolCaller) -> None:
    assert found(hands, "no/such/*.py") == ["Nothing matches the pattern"]
    assert found(hands, "top.py/*") == ["Nothing matches the pattern"]


def test_many_paths_are_cut_and_it_says_so(hands: ToolCaller) -> None:
    (hands.root / "many").mkdir()
    for number in range(1_001):
        (hands.root / "many" / str(number)).touch()
    outcome = hands.output(search_files, path="many", pattern="*")
    assert outcome.values == {"count": 1_000, "truncated": True}
    assert outcome.text.endswith("(more than 1,000 paths: narrow the pattern or name a folder below)")


def test_a_glob_without_a_slash_finds_names_anywhere(hands: ToolCaller) -> None:
    assert hands.text(glob_files, pattern="*.py").split("\n") == ["src/app.py", "src/lib/deep.py", "top.py"]
    assert hands.text(glob_files, pattern="lib") == "Nothing matches the pattern"
    assert hands.text(glob_files, pattern="*.py", path="src") == "app.py\nlib/deep.py"
    assert {"top.py", "src/lib/deep.py"} <= set(hands.text(glob_files, pattern="**").split("\n"))


def test_a_glob_leaves_hidden_files_out_unless_it_names_them(hands: ToolCaller) -> None:
    assert hands.text(glob_files, pattern="*.yml") == "Nothing matches the pattern"
    assert hands.text(glob_files, pattern="**/.github/*.yml") == ".github/ci.yml"
    assert hands.text(glob_files, pattern=".gitignore") == ".gitignore"


def test_a_glob_finds_no_more_than_wanted(hands: ToolCaller) -> None:
    text = hands.text(glob_files, pattern="*.py", max_results=2)
    assert text.split("\n")[2:] == ["(more than 2 files: narrow the pattern or raise max_results)"]
    assert hands.failure(glob_files, pattern="*.py", max_results=0).code == "bad_input"


def test_what_is_no_folder_is_refused(hands: ToolCaller) -> None:
    assert hands.failure(search_files, path="top.py", pattern="*").code == "bad_input"
    assert "similar: src" in hands.failure(search_files, path="srcs", pattern="*").message
