from pathlib import Path

import pytest

from fakes.context_formats import item
from fakes.trees import plant, plant_names
from marid.assembly.lock.lock_file import Lock, dump_lock, lock_file_row
from marid.assembly.selection import resolve_targets, select_files
from marid.assembly.symbol_choices import resolve_symbols
from marid.assembly.symbol_excerpts import AnchoredSymbol
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
