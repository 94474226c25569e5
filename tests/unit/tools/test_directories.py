"""Looking into folders, as a caller does."""

import os
from pathlib import Path

import pytest

from fakes.files import as_nobody
from fakes.tool_caller import ToolCaller
from fakes.trees import plant, scratch
from marid.tools.directories import get_tree, list_directory


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    for name in ("src/app/main.py", "src/a.py", "node_modules/x/y.js", "b.txt", ".hidden/c", "made/d"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * 1_500)
    (tmp_path / ".gitignore").write_text("made/\n")
    return ToolCaller(tmp_path)


def test_a_folder_is_listed_with_kinds_and_sizes(hands: ToolCaller) -> None:
    assert hands.text(list_directory, path=".").split("\n") == [
        "[dir] .hidden",
        "[dir] made",
        "[dir] node_modules",
        "[dir] src",
        "[file] .gitignore 6 B",
        "[file] b.txt 1.5 KB",
    ]


def test_more_levels_make_a_tree_without_what_is_ignored(hands: ToolCaller) -> None:
    assert hands.text(list_directory, path=".", depth=2, show_hidden=False).split("\n") == [
        "[dir] made (not entered)",
        "[dir] node_modules (not entered)",
        "[dir] src",
        "  [dir] app",
        "  [file] a.py 1.5 KB",
        "[file] b.txt 1.5 KB",
    ]


def test_a_tree_shows_the_structure(hands: ToolCaller) -> None:
    outcome = hands.output(get_tree, path=".", max_depth=3)
    assert outcome.text.split("\n") == [
        "./",
        ".hidden/",
        "  c",
        "made/ (not entered)",
        "node_modules/ (not entered)",
        "src/",
        "  app/",
        "    main.py",
        "  a.py",
        ".gitignore",
        "b.txt",
    ]
    assert outcome.values == {"entries": 10, "truncated": False}


def test_an_ignored_folder_that_is_named_is_shown(hands: ToolCaller) -> None:
    assert hands.text(get_tree, path="node_modules", max_depth=5) == "node_modules/\nx/\n  y.js"


def test_links_special_files_and_empty_folders_are_shown(hands: ToolCaller) -> None:
    (hands.root / "src" / "self").symlink_to(hands.root)
    os.mkfifo(hands.root / "src" / "pipe")
    (hands.root / "empty").mkdir()
    assert "  self@" in hands.text(get_tree, path=".", max_depth=9).split("\n")  # and not followed
    assert "[link] self" in hands.text(list_directory, path="src")
    assert "[other] pipe" in hands.text(list_directory, path="src")
    assert hands.text(list_directory, path="empty") == "(empty)"


def test_odd_names_are_shown_safely(hands: ToolCaller) -> None:
    (hands.root / "src" / "a\nb\x1b[2J").touch()
    os.close(os.open(os.fsencode(hands.root / "src") + b"/\xff.txt", os.O_CREAT))
    text = hands.text(list_directory, path="src")
    assert '[file] "a\\nb\\033[2J" 0 B' in text.split("\n")
    assert '[file] "\\377.txt" 0 B' in text.split("\n")
    text.encode()


def test_what_cannot_be_opened_hides_nothing_else() -> None:
    with scratch() as top:  # which others may enter, unlike the folders of pytest
        plant(top, {"a.py": "", "app/main.py": "", "closed/x": ""})
        Path(top, "closed").chmod(0)
        with as_nobody():
            text = ToolCaller(Path(top)).text(get_tree, path=".", max_depth=3)
        Path(top, "closed").chmod(0o700)
    assert text.split("\n") == ["./", "app/", "  main.py", "closed/", "  (cannot be opened)", "a.py"]


def test_a_long_list_is_cut_and_says_so(hands: ToolCaller) -> None:
    (hands.root / "many").mkdir()
    for number in range(2_001):
        (hands.root / "many" / str(number)).touch()
    outcome = hands.output(list_directory, path="many")
    assert outcome.values == {"entries": 2_000, "truncated": True}
    assert outcome.text.count("\n") == 2_000
    assert "more than 2,000 names" in outcome.text


def test_what_is_no_folder_is_refused(hands: ToolCaller) -> None:
    assert hands.failure(list_directory, path="b.txt").code == "bad_input"
    assert hands.failure(get_tree, path="scr", max_depth=1).message == "scr: not found; similar: src"
    assert hands.failure(get_tree, path=".", max_depth=0).message == "max_depth is 0: it must be at least 1"
    assert hands.failure(list_directory, path=".", depth=0).message == "depth is 0: it must be at least 1"


def test_a_deep_tree_has_an_end(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(60):
        deep /= "d"
        deep.mkdir()
    assert ToolCaller(tmp_path).text(get_tree, path=".", max_depth=10**6).count("\n") == 50
