from pathlib import Path

import pytest

from fakes.context_formats import item
from fakes.secrets import GITHUB_TOKEN
from fakes.trees import plant, plant_names
from marid.assembly.items import AnchoredSymbol
from marid.assembly.lock import Lock, dump_lock, lock_file_row
from marid.assembly.selection import resolve_targets, select_files
from marid.assembly.symbols import SymbolExcerpt, excerpt_symbols, resolve_symbols
from marid.core.context import ContextRequest, RenderOptions, SymbolChoice, SymbolDetail
from marid.core.errors import NotFound
from marid.text.edit.text_anchors import anchor_lines
from marid.workspace.walk import SelectionRules

FULL, HIDE = SymbolDetail.FULL, SymbolDetail.HIDE


def resolve(top: Path, *chosen: SymbolChoice, cwd: str = "", lock: str = "") -> dict[str, tuple[AnchoredSymbol, ...]]:
    request = ContextRequest(cwd=str(top / cwd), render=RenderOptions(symbols=chosen))
    selection = select_files(resolve_targets([str(top)], "/"), SelectionRules(), lambda _: None)
    return resolve_symbols(request, selection, lock)


def test_a_path_is_relative_to_the_top_or_to_the_working_directory(tmp_path: Path) -> None:
    plant_names(tmp_path, "src/a.py")
    expected = {"src/a.py": (AnchoredSymbol("f", FULL), AnchoredSymbol("g", HIDE))}
    assert (
        resolve(tmp_path, SymbolChoice("src/a.py", "f", FULL), SymbolChoice("a.py", "g", HIDE), cwd="src") == expected
    )


def test_a_file_that_is_not_selected_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"--symbol: .* is not selected"):
        resolve(tmp_path, SymbolChoice("a.py", "f", FULL))


def test_a_lock_adds_anchors_and_the_choices_for_other_files(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b.py")
    old = AnchoredSymbol("f", FULL, anchor_lines("def f(): pass\n", 1, 1))
    rows = tuple(lock_file_row(item(name, b"x")._replace(symbols=(old,)), "") for name in ("a.py", "b.py"))
    lock = Lock(request={}, encoding="o200k_base", sections={}, files=rows)
    plant(tmp_path, {"my.lock": dump_lock(lock)})
    found = resolve(tmp_path, SymbolChoice("a.py", "f", HIDE), lock=str(tmp_path / "my.lock"))
    assert found == {"a.py": (old._replace(choice=HIDE),), "b.py": (old,)}


SOURCE = '''\
import os

LIMIT = 3


def first(a, b):
    """Add."""
    return a + b


class Shop:
    name = "x"

    def open(self):
        return os.name

    def close(self):
        def inner():
            return 1

        return inner()


def last():
    return None
'''


def shaped(*symbols: AnchoredSymbol, source: str = SOURCE, path: str = "a.py") -> SymbolExcerpt:
    return excerpt_symbols(path, source.encode(), symbols, source.encode())


def body(*symbols: AnchoredSymbol, source: str = SOURCE) -> str:
    return shaped(*symbols, source=source).body.decode()


def full(name: str) -> AnchoredSymbol:
    return AnchoredSymbol(name, SymbolDetail.FULL)


def test_only_the_chosen_symbol_is_shown() -> None:
    found = shaped(full("first"))
    assert found.body.decode() == 'def first(a, b):\n    """Add."""\n    return a + b\n'
    assert (found.numbers, found.spans) == ((6, 7, 8), ((6, 8),))


def test_gaps_between_symbols_are_marked() -> None:
    found = shaped(full("Shop.open"), full("LIMIT"))
    assert found.body.decode() == "LIMIT = 3\n⋮\n    def open(self):\n        return os.name\n"
    assert (found.numbers, found.spans) == ((3, 0, 14, 15), ((3, 3), (14, 15)))
    assert body(full("a"), full("b"), source="a = 1\nb = 2\nc = 3\n") == "a = 1\nb = 2\n"


def test_a_signature_has_its_lines_and_hiding_alone_shows_the_rest() -> None:
    found = shaped(AnchoredSymbol("Shop", SymbolDetail.SIGNATURE), AnchoredSymbol("Shop.close", SymbolDetail.SIGNATURE))
    assert found.body.decode() == "class Shop:  ⋮ 11-21\n    def close(self):  ⋮ 17-21\n"
    assert found.spans == ()
    text = body(AnchoredSymbol("Shop", SymbolDetail.HIDE), AnchoredSymbol("first", SymbolDetail.HIDE))
    assert text == "import os\n\nLIMIT = 3\n\n\n⋮ 6-8 first\n\n\n⋮ 11-21 Shop\n\n\ndef last():\n    return None\n"


def test_a_choice_inside_another_has_the_last_word() -> None:
    assert body(
        full("Shop"),
        AnchoredSymbol("Shop.close", SymbolDetail.HIDE),
        AnchoredSymbol("Shop.open", SymbolDetail.SIGNATURE),
    ) == ('class Shop:\n    name = "x"\n\n    def open(self):  ⋮ 14-15\n\n    ⋮ 17-21 Shop.close\n')
    assert body(full("Shop.close.inner"), AnchoredSymbol("Shop.close", SymbolDetail.HIDE)) == (
        "    ⋮ 17-21 Shop.close\n        def inner():\n            return 1\n"
    )


def test_a_name_may_leave_out_what_it_is_in() -> None:
    assert body(full("inner")) == "        def inner():\n            return 1\n"


def test_an_unfinished_last_line_is_ended() -> None:
    assert body(full("a"), source="a = 1") == "a = 1\n"


def test_a_symbol_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(NotFound, match=r"no symbol 'gone' in a\.py; it defines LIMIT, first, Shop, "):
        shaped(full("gone"))
    with pytest.raises(NotFound, match=r"no symbol 'gone' in a\.txt; it has no known definitions"):
        shaped(full("gone"), path="a.txt")


def test_a_symbol_is_found_by_its_anchor_after_it_was_renamed_and_moved() -> None:
    (chosen,) = shaped(full("Shop.open")).symbols
    moved = "# new\n\n" + SOURCE.replace("def open", "def unlock").replace("return None", "return 0")
    found = shaped(chosen, source=moved)
    assert found.body.decode() == "    def unlock(self):\n        return os.name\n"
    assert found.spans == ((16, 17),)
    assert found.symbols[0].name == "Shop.open"


def test_a_symbol_found_by_its_anchor_is_the_definition_that_is_there_now() -> None:
    (chosen,) = shaped(full("first")).symbols
    grown = SOURCE.replace("def first(a, b)", "def add(a, b)").replace("return a + b", "a = a + 0\n    return a + b")
    assert body(chosen, source=grown) == 'def add(a, b):\n    """Add."""\n    a = a + 0\n    return a + b\n'
    (chosen,) = shaped(AnchoredSymbol("first", SymbolDetail.SIGNATURE)).symbols
    assert body(chosen, source=SOURCE.replace("def first(", "def add(")) == "def add(a, b):  ⋮ 6-8\n"


def test_lines_that_are_no_definition_any_more_are_found_all_the_same() -> None:
    (chosen,) = shaped(AnchoredSymbol("LIMIT", SymbolDetail.SIGNATURE)).symbols
    assert body(chosen, source="LIMIT = 3  # was here\n" + "x\n" * 3).startswith("LIMIT = 3")
    text = 'import os\n\n"""\nLIMIT = 3\n"""\n\n\ndef first(a, b):\n    pass\n'
    assert body(chosen, source=text) == "LIMIT = 3  ⋮ 4-4\n"


def test_an_anchor_remembers_no_secret() -> None:
    source = f"TOKEN = '{GITHUB_TOKEN}'\n\n\ndef f():\n    return TOKEN\n"
    legible = source.replace(GITHUB_TOKEN, "[masked:github-token]").encode()
    found = excerpt_symbols("a.py", source.encode(), [full("TOKEN"), full("f")], legible)
    assert GITHUB_TOKEN in found.body.decode()
    assert GITHUB_TOKEN not in str(found.symbols)


def test_overloads_are_all_shown() -> None:
    assert body(full("f"), source="def f(a): pass\nx = 1\ndef f(b): pass\n") == "def f(a): pass\n⋮\ndef f(b): pass\n"
