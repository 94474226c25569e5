"""Looking into code of any language."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fakes.ports import InlineWorkers
from fakes.tool_caller import ToolCaller
from marid.core.errors import Exhausted
from marid.ports.workers import Workers
from marid.toolkit.inventory import load_tools
from marid.toolkit.spec import ToolSpec
from marid.tools import code

T = TypeVar("T")
CPP = Path(__file__).parents[2] / "golden" / "cpp"


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    (tmp_path / "shop.py").write_text("class Shop:\n    def total(self):\n        '''Sum.'''\n        return 1\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "page.ts").write_text(
        "// total\nimport { total } from './shop';\nconsole.log(total(1), 'total');\n"
    )
    (tmp_path / "web" / "notes.md").write_text("total\n")
    (tmp_path / "web" / "image.py").write_bytes(b"total\0")
    (tmp_path / "table.c").write_bytes((CPP / "table.c").read_bytes())
    return ToolCaller(tmp_path)


def given(spec: ToolSpec, path: str) -> dict[str, object]:
    return {"path": path, "name": "total"} if spec.name in ("get_definition", "find_references") else {"path": path}


def test_the_language_is_told_by_the_name(hands: ToolCaller) -> None:
    assert hands.text(code.get_code_outline, path="shop.py") == "[Class] Shop (Lines 1-4)\n  [Method] total (Lines 2-4)"
    assert hands.text(code.get_code_outline, path="table.c") + "\n" == (CPP / "table.c.outline").read_text("utf-8")
    assert hands.text(code.get_skeleton, path="table.c") == (CPP / "table.c.skeleton").read_text("utf-8")
    assert hands.text(code.get_skeleton, path="shop.py").endswith("'''Sum.'''\n        ...\n")
    found = hands.output(code.get_definition, path="shop.py", name="Shop.total")
    assert found.values == {"language": "python", "lines": [[2, 4]]}


def test_a_file_that_defines_nothing_says_so(hands: ToolCaller) -> None:
    (hands.root / "empty.go").write_text("")
    assert hands.text(code.get_code_outline, path="empty.go") == "empty.go defines nothing"


@pytest.mark.parametrize("spec", load_tools(code.__name__), ids=lambda spec: spec.name)
@pytest.mark.parametrize(
    ("path", "code_", "words"),
    [
        ("none.py", "not_found", "none.py"),
        ("web/notes.md", "unavailable", "no grammar is installed that reads web/notes.md"),
        ("web/image.py", "bad_input", "web/image.py is a binary file"),
    ],
)
def test_what_is_no_code_is_an_error(hands: ToolCaller, spec: ToolSpec, path: str, code_: str, words: str) -> None:
    told = hands.failure(spec, **given(spec, path))
    assert told.code == code_
    assert words in told.message


def test_references_are_code_in_every_language(hands: ToolCaller) -> None:
    found = hands.output(code.find_references, name="total")
    assert found.text.split("\n") == [
        "shop.py:2: def total(self):  [definition]",
        "web/page.ts:2: import { total } from './shop';",
        "web/page.ts:3: console.log(total(1), 'total');",
    ]
    assert found.values == {"count": 3, "files": 2, "truncated": False, "failed": 0}


def test_references_in_a_folder_or_a_file(hands: ToolCaller) -> None:
    assert hands.text(code.find_references, name="total", path="web").startswith("web/page.ts:2: ")
    assert hands.text(code.find_references, name="Shop::total", path="./shop.py").startswith("./shop.py:2: ")
    absolute = str(hands.root / "web")
    assert hands.text(code.find_references, name="total", path=absolute).startswith(absolute + "/page.ts:2: ")


def test_nothing_found_is_said(hands: ToolCaller) -> None:
    assert hands.text(code.find_references, name="nowhere", path="web") == "'nowhere' is not used in the code of web"
    text = hands.text(code.find_references, name="nowhere", path="shop.py")
    assert text == "'nowhere' is not used in the code of shop.py"


@pytest.mark.parametrize("name", ["", ".*", "a b", "x" * 100_000])
def test_what_is_no_name_is_an_error(hands: ToolCaller, name: str) -> None:
    assert hands.failure(code.find_references, name=name).code == "bad_input"


def test_many_references_are_cut(hands: ToolCaller) -> None:
    for number in range(130):
        (hands.root / f"m{number:03}.py").write_text("total(1)\ntotal(2)\n")
    found = hands.output(code.find_references, name="total")
    assert found.text.count("\n") == 200
    assert found.text.endswith("... cut after 200 lines, there are more: give a narrower path")
    assert (found.values["count"], found.values["truncated"]) == (200, True)


class FailingWorkers(InlineWorkers):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        assert cost
        return [self.error for _ in calls]


def test_files_that_could_not_be_parsed_are_named_and_a_bug_is_not_hidden(hands: ToolCaller) -> None:
    slow = ToolCaller(hands.root, {Workers: FailingWorkers(Exhausted("too slow"))})
    found = slow.output(code.find_references, name="total")
    assert found.text.endswith("could not be parsed, so not searched: shop.py, web/page.ts")
    assert found.values["failed"] == 2
    with pytest.raises(ValueError, match="bug"):
        ToolCaller(hands.root, {Workers: FailingWorkers(ValueError("bug"))}).plan(code.find_references, name="total")


def test_large_files_come_in_batches_of_their_own(hands: ToolCaller) -> None:
    for number in range(3):
        (hands.root / f"big{number}.py").write_text("total = 1\n" + "#" * (3 << 20))
    (hands.root / "huge.py").write_text("total = 1\n" + "#" * (5 << 20))
    text = hands.text(code.find_references, name="total")
    assert [line.split(":")[0] for line in text.split("\n")][:3] == ["big0.py", "big1.py", "big2.py"]
    assert "huge.py" not in text
