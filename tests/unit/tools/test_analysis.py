import sysconfig
from contextlib import closing
from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.adapters.workers.pool import ProcessWorkers
from marid.ports.workers import Workers
from marid.tools.analysis import derive_code_path, get_file_summary
from marid.tools.python_read import py_get_hierarchy

TREE = {
    "pkg/__init__.py": "from .core import helper as assist\n",
    "pkg/core.py": "def helper():\n    deep()\ndef deep():\n    helper()\n",
    "app.py": "from pkg import assist\nimport broken\ndef main(x):\n    assist()\n    x.go()\n    broken.f()\n",
    "broken.py": "def f(:\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, code in TREE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code)
    return tmp_path


def test_calls_are_followed_through_a_package(tree: Path) -> None:
    outcome = ToolCaller(tree).output(derive_code_path, target="app.py::main")
    assert (
        outcome.text
        == """\
main (app.py:3)
  unresolved: x.go (line 5), broken.f (line 6)
  helper (pkg/core.py:1)
    deep (pkg/core.py:3)
      helper (pkg/core.py:1) [cycle]
(broken.py is not understood: line 1, column 7: invalid syntax)"""
    )
    assert outcome.values == {"functions": 4, "unfollowed": 0, "truncated": False}


def test_what_is_parsed_in_a_real_worker_comes_back(tree: Path) -> None:
    (tree / "shapes.py").write_text("class Shape: ...\nclass Round(Shape): ...\n")
    with closing(ProcessWorkers()) as workers:
        hands = ToolCaller(tree, {Workers: workers})
        assert hands.text(derive_code_path, target="main").startswith("main (app.py:3)\n  unresolved: x.go (line 5)")
        assert "Round" in hands.text(py_get_hierarchy, path="shapes.py", class_name="Shape")


def test_a_folder_narrows_what_is_searched(tree: Path) -> None:
    hands = ToolCaller(tree)
    assert hands.text(derive_code_path, target="helper", path="pkg").startswith("helper (pkg/core.py:1)")
    assert hands.failure(derive_code_path, target="main", path="pkg").code == "not_found"


def test_depth_has_ends(tree: Path) -> None:
    hands = ToolCaller(tree)
    text = hands.text(derive_code_path, target="main", max_depth=1)
    assert text.split("\n")[3] == "(not followed below level 1: 1; raise max_depth to follow them)"
    assert hands.text(derive_code_path, target="main", max_depth=10**6).startswith("main")
    for depth in (0, -1):
        assert hands.failure(derive_code_path, target="main", max_depth=depth).message == "max_depth: at least 1"


def test_a_tree_of_calls_that_is_too_deep_or_too_wide_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f0(): f0()\n" + "".join(f"def f{n + 1}(): f{n}()\n" for n in range(60)))
    wide = "def f():\n" + "".join(f"  g{n}()\n" for n in range(450)) + "".join(f"def g{n}(): ...\n" for n in range(450))
    (tmp_path / "b.py").write_text(wide)
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(5 << 20)
    deep = ToolCaller(tmp_path).text(derive_code_path, target="f60", max_depth=99)
    assert deep.endswith("(not followed below level 40: 1)\n(1 Python files could not be read or are too large)")
    cut = ToolCaller(tmp_path).output(derive_code_path, target="b.f")
    assert "(left out for length: 51 calls; start further down, or lower max_depth)" in cut.text
    assert cut.values["truncated"] is True


def test_real_code_is_followed() -> None:
    hands = ToolCaller(Path(sysconfig.get_paths()["stdlib"]))
    text = hands.text(derive_code_path, target="email.message_from_string", path="email", max_depth=4)
    assert "FeedParser.feed (email/feedparser.py:" in text
    assert "external:" in text


def test_a_summary_names_the_file_as_it_was_given(tree: Path) -> None:
    outcome = ToolCaller(tree).output(get_file_summary, path="./pkg/core.py")
    assert outcome.text == (
        "./pkg/core.py: python, 4 lines, 50 bytes\nfunctions:\n  def helper() (Lines 1-2)\n  def deep() (Lines 3-4)"
    )
    assert outcome.values == {"bytes": 50, "truncated": False}


def test_a_long_summary_is_cut(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("".join(f"# {'heading ' * 8}{n}\n" for n in range(1000)))
    outcome = ToolCaller(tmp_path).output(get_file_summary, path="a.md")
    assert outcome.values["truncated"] is True
    assert outcome.text.endswith("(the rest is left out: read parts of the file instead)")


def test_what_cannot_be_summed_up_is_an_error_with_words(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[" * 100_000)
    failed = ToolCaller(tmp_path).failure(get_file_summary, path="a.json")
    assert (failed.code, failed.message) == ("exhausted", "'a.json': nested too deeply to read")
    assert ToolCaller(tmp_path).failure(get_file_summary, path=".").code == "bad_input"
    assert ToolCaller(tmp_path).failure(get_file_summary, path="none").code == "not_found"
