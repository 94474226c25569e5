import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from fakes.context_formats import item, paths
from marid.assembly.lock.lock_file import (
    Lock,
    LockedFile,
    diff_locks,
    dump_lock,
    load_lock,
    lock_file_row,
)
from marid.assembly.symbol_excerpts import AnchoredSymbol
from marid.core.context import Level, SymbolDetail
from marid.core.errors import BadInput, NotFound
from marid.text.content_hash import sha256_hex
from marid.text.edit.text_anchors import anchor_lines

ROW = lock_file_row(item("a.py", b"x\ny", 4)._replace(tokens=3), "because")


def lock(*files: LockedFile, **sections: str) -> Lock:
    return Lock(request={"rules": ["!x"]}, encoding="o200k_base", sections=sections, files=files)


def test_a_row_holds_every_fact_of_its_file() -> None:
    expected = LockedFile(
        path="a.py",
        level="full",
        reason="because",
        digest=sha256_hex(b"x\ny"),
        size=7,
        written=3,
        tokens=3,
        spans=((1, 2),),
        symbols=(),
    )
    assert (ROW, len(ROW.digest)) == (expected, 64)


@pytest.mark.parametrize("level", [Level.OUTLINE, Level.NAME])
def test_what_is_not_there_line_by_line_has_no_spans(level: Level) -> None:
    assert lock_file_row(item("a.py", b"1 def f()\n")._replace(level=level), "").spans == ()
    assert lock_file_row(item("a.py", b""), "").spans == ()


def test_of_chosen_symbols_the_spans_are_their_own() -> None:
    shown = item("a.py", b"x\n")._replace(spans=((4, 5),))
    assert lock_file_row(shown._replace(symbols=(AnchoredSymbol("f", SymbolDetail.FULL),)), "").spans == ((4, 5),)
    assert (
        lock_file_row(shown._replace(spans=(), symbols=(AnchoredSymbol("f", SymbolDetail.SIGNATURE),)), "").spans == ()
    )


def test_a_lock_comes_back_as_it_was_written(tmp_path: Path) -> None:
    anchor = anchor_lines("a\nb\nc\n", 2, 3)
    chosen = (AnchoredSymbol("f", SymbolDetail.FULL, anchor), AnchoredSymbol("g", SymbolDetail.HIDE))
    row = lock_file_row(item("b\n.py", b"x")._replace(symbols=chosen), "by '\udcff'")
    written = lock(ROW, row, tree="00ff")
    (tmp_path / "lock").write_bytes(dump_lock(written))
    assert load_lock(str(tmp_path / "lock")) == written


def test_a_lock_without_files_comes_back_too(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(dump_lock(lock()))
    assert load_lock(str(tmp_path / "lock")) == lock()


def test_one_file_is_one_line_of_json() -> None:
    text = dump_lock(lock(ROW, ROW)).decode()
    assert json.loads(text)["marid_lock"] == 1
    assert text.count('{"path": "a.py"') == text.count("\n{") == 2


def test_the_symbols_are_known_by_the_file_s_own_name() -> None:
    chosen = (AnchoredSymbol("f", SymbolDetail.FULL),)
    rows = (lock_file_row(item("b\n.py", b"x")._replace(symbols=chosen), ""), ROW)
    assert lock(*rows).symbols() == {"b\n.py": chosen}


def test_a_lock_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="not found or not readable"):
        load_lock(str(tmp_path / "gone"))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"marid_lock": 1}',
        b'{"marid_lock": 1, "request": {}, "encoding": "x", "sections": {}, "files": [1]}',
        b'{"marid_lock": 1, "request": {}, "encoding": "x", "sections": 1, "files": []}',
        b'{"marid_lock": 1, "request": {}, "encoding": "x", "sections": {}, "files": [{}]}',
    ],
)
def test_what_is_no_lock_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "lock").write_bytes(text)
    with pytest.raises(BadInput, match="not a lock file of marid"):
        load_lock(str(tmp_path / "lock"))


def test_a_lock_of_the_future_is_refused_with_both_versions(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b'{"marid_lock": 2}')
    with pytest.raises(BadInput, match="version 2; this version of marid reads 1"):
        load_lock(str(tmp_path / "lock"))


def test_differences_tell_what_came_went_and_changed() -> None:
    same = ROW
    old = lock(same, ROW._replace(path="b"), ROW._replace(path="c"), ROW._replace(path="d"), ROW._replace(path="e"))
    new = lock(
        same,
        ROW._replace(path="c", digest="0", tokens=9),
        ROW._replace(path="d", digest="0"),
        ROW._replace(path="e", level="outline"),
        ROW._replace(path="f"),
    )
    assert list(diff_locks(old, new)) == [
        "- b",
        "~ c (3 -> 9 tokens)",
        "~ d (content changed)",
        "~ e (full -> outline)",
        "+ f (full, 3 tokens)",
    ]


def test_differences_tell_of_what_stands_before_the_files() -> None:
    assert list(diff_locks(lock(tree="1", git_log="2"), lock(tree="1", git_log="3", git_diff="4"))) == [
        "~ [git_diff] (content changed)",
        "~ [git_log] (content changed)",
    ]


def test_the_same_lock_has_no_differences() -> None:
    assert list(diff_locks(lock(ROW, tree="1"), lock(ROW, tree="1"))) == []


@settings(deadline=None)
@given(paths())
def test_any_name_survives_a_lock(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    place = tmp_path_factory.getbasetemp() / "some.lock"
    place.write_bytes(
        dump_lock(
            lock(lock_file_row(item(path, b"x")._replace(symbols=(AnchoredSymbol("f", SymbolDetail.FULL),)), path))
        )
    )
    found = load_lock(str(place))
    assert list(found.symbols()) == [path]
    assert found.files[0].reason == path
