"""Finding text in files, as a caller does."""

import os
import re
from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.tools.text_search import file_grep, grep_files, py_find_usages

STANDARD = Path(os.__file__).parent


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("import os\n\n\ndef main():\n    print(os.name)\n")
    (tmp_path / "b.txt").write_bytes(b"one\r\ntwo os\r\nthree\r\n")
    (tmp_path / ".hidden").write_text("os\n")
    (tmp_path / "image.png").write_bytes(b"os\0\0")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "x.js").write_text("os\n")
    return ToolCaller(tmp_path)


def test_matches_are_shown_with_the_lines_around_them(hands: ToolCaller) -> None:
    outcome = hands.output(grep_files, pattern=r"\bos$", context_lines=1)
    assert outcome.text.split("\n") == [
        "b.txt:1-one",
        "b.txt:2: two os",
        "b.txt:3-three",
        "--",
        "src/a.py:1: import os",
        "src/a.py:2-",
    ]
    assert outcome.values == {"matches": 2, "files": 2, "truncated": False}


def test_lines_around_are_left_out_when_not_wanted(hands: ToolCaller) -> None:
    text = hands.text(grep_files, pattern="os", context_lines=0)
    assert text == "b.txt:2: two os\nsrc/a.py:1: import os\nsrc/a.py:5:     print(os.name)"
    assert hands.text(grep_files, pattern="nowhere") == "No matches"
    assert hands.text(file_grep, path="b.txt", pattern="nowhere") == "No matches"


def test_files_are_chosen_by_a_glob_a_folder_or_a_name(hands: ToolCaller) -> None:
    for args in ({"file_pattern": "*.py"}, {"path": "src"}, {"path": "src/a.py"}, {"file_pattern": "src/**/*.py"}):
        text = hands.text(grep_files, pattern="import.os", context_lines=0, **args)
        assert text == "src/a.py:1: import os"


def test_paths_can_be_given_back(hands: ToolCaller) -> None:
    for path in ("./src/", str(hands.root / "src")):
        found = hands.text(grep_files, pattern="import", path=path, context_lines=0)
        assert hands.text(file_grep, path=found.split(":")[0], pattern="import")


def test_matching_stops_at_the_cap_and_says_so(hands: ToolCaller) -> None:
    (hands.root / "many").write_text("hit\n" * 60)
    outcome = hands.output(grep_files, pattern="hit", path="many")
    assert outcome.values == {"matches": 50, "files": 1, "truncated": True}
    assert outcome.text.endswith(
        "(more than 50 matching lines: narrow the pattern, path or file_pattern, or raise max_results)"
    )


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("(", "invalid pattern: missing ), unterminated subpattern at character 1"), ("", "empty"), ("a\\nb", "one line")],
)
def test_a_wrong_pattern_is_refused(hands: ToolCaller, pattern: str, words: str) -> None:
    for args in ({"path": "."}, {"path": "b.txt"}):
        assert words in hands.failure(grep_files, pattern=pattern, **args).message
    assert words in hands.failure(file_grep, path="b.txt", pattern=pattern).message


def test_numbers_that_cannot_be_are_refused(hands: ToolCaller) -> None:
    for args in ({"context_lines": -1}, {"max_results": 0}, {"file_pattern": "../*"}):
        assert hands.failure(grep_files, pattern="a", **args).code == "bad_input"
    assert hands.failure(file_grep, path="b.txt", pattern="a", context_after=-1).code == "bad_input"


def test_an_overlong_line_is_cut(hands: ToolCaller) -> None:
    (hands.root / "min.js").write_text("x" * 100_000 + "needle" + "y" * 100_000)
    text = hands.text(grep_files, pattern="needle", path="min.js")
    assert "needle" in text
    assert len(text) < 1_000


def test_one_file_is_searched_with_its_own_marks(hands: ToolCaller) -> None:
    text = hands.text(file_grep, path="src/a.py", pattern=r"import|name", context_before=0, context_after=1)
    assert text.split("\n") == [">1:import os", " 2:", "--", ">5:    print(os.name)"]


def test_what_cannot_be_searched_is_refused(hands: ToolCaller) -> None:
    assert "binary" in hands.failure(file_grep, path="image.png", pattern="a").message
    assert hands.failure(file_grep, path="src", pattern="a").code == "bad_input"
    assert "similar: src" in hands.failure(grep_files, path="scr", pattern="a").message


def test_a_pipe_in_the_way_is_passed_over(hands: ToolCaller) -> None:
    os.mkfifo(hands.root / "pipe")
    assert "two os" in hands.text(grep_files, pattern="two")
    assert hands.failure(grep_files, pattern="two", path="pipe").code == "bad_input"


def test_usages_are_whole_words_in_python_files(hands: ToolCaller) -> None:
    (hands.root / "c.py").write_text("os_name = osx\nos = 'é'; éos = 1\n")
    assert hands.text(py_find_usages, path=".", name="os").split("\n") == [
        "c.py:2: os = 'é'; éos = 1",
        "src/a.py:1: import os",
        "src/a.py:5:     print(os.name)",
    ]
    assert hands.text(py_find_usages, path="c.py", name="osx") == "c.py:1: os_name = osx"


def test_a_name_is_taken_literally(hands: ToolCaller) -> None:
    (hands.root / "c.py").write_text("x = '.*'\nprint(1)\n")
    assert hands.text(py_find_usages, path=".", name=".*") == "c.py:1: x = '.*'"
    assert hands.text(py_find_usages, path=".", name="print(") == "c.py:2: print(1)\nsrc/a.py:5:     print(os.name)"
    assert hands.text(py_find_usages, path=".", name="p.int") == "No matches"


@pytest.mark.parametrize("name", ["", "  ", "x" * (1 << 20), "a\nb"])
def test_a_name_that_cannot_be_is_refused(hands: ToolCaller, name: str) -> None:
    assert hands.failure(py_find_usages, path=".", name=name).code == "bad_input"


def test_many_usages_are_cut(hands: ToolCaller) -> None:
    (hands.root / "c.py").write_text("x\n" * 600)
    assert hands.text(py_find_usages, path=".", name="x").endswith(
        "(more than 500 matching lines: name a folder or a file below)"
    )


@pytest.mark.parametrize("name", ["OrderedDict", "namedtuple", "é", "__slots__", "_Py"])
def test_usages_in_real_code_are_those_of_a_plain_search(name: str) -> None:
    expected: list[str] = []
    for path in sorted((STANDARD / "collections").glob("*.py")) + sorted((STANDARD / "json").glob("*.py")):
        lines = path.read_text("utf-8").split("\n")
        shown = path.relative_to(STANDARD).as_posix()
        expected += [f"{shown}:{n}: {line}" for n, line in enumerate(lines, 1) if re.search(rf"\b{name}\b", line)]
    hands = ToolCaller(STANDARD)
    texts = [hands.text(py_find_usages, path=folder, name=name) for folder in ("collections", "json")]
    assert "\n".join(text for text in texts if text != "No matches") == "\n".join(expected)
