import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from fakes.context_formats import item, paths
from fakes.trees import plant_names
from marid.assembly.items import AnchoredSymbol, Section
from marid.assembly.lock import (
    Lock,
    LockedFile,
    LockRecorder,
    diff_locks,
    dump_lock,
    load_lock,
    lock_file_row,
    request_from_lock,
    request_to_dict,
)
from marid.assembly.selection import resolve_targets, select_files
from marid.core.context import (
    ContextRequest,
    FileSelection,
    Level,
    LevelRule,
    OutputFormat,
    RenderOptions,
    SymbolChoice,
    SymbolDetail,
)
from marid.core.errors import BadInput, NotFound
from marid.text.content_hash import sha256_hex
from marid.text.edit.text_anchors import anchor_lines
from marid.workspace.walk import SelectionRules

ROW = lock_file_row(item("a.py", b"x\ny", 4)._replace(tokens=3), "because")


def lock(*files: LockedFile, **sections: str) -> Lock:
    return Lock(request={"rules": ["!x"]}, encoding="o200k_base", sections=sections, files=files)


def test_a_row_holds_every_fact_of_its_file() -> None:
    expected = LockedFile(
        path="a.py",
        level="full",
        reason="because",
        sha256=sha256_hex(b"x\ny"),
        size=7,
        written=3,
        tokens=3,
        spans=((1, 2),),
        symbols=(),
    )
    assert (ROW, len(ROW.sha256)) == (expected, 64)


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
        ROW._replace(path="c", sha256="0", tokens=9),
        ROW._replace(path="d", sha256="0"),
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


def test_sections_that_differ_are_listed() -> None:
    assert list(diff_locks(lock(tree="1", git_log="2"), lock(tree="1", git_log="3", git_diff="4"))) == [
        "~ [git_diff] (content changed)",
        "~ [git_log] (content changed)",
    ]
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


REQUEST = ContextRequest(
    cwd="/projects/shop",
    selection=FileSelection(
        targets=("src", "../other"),
        rules=("!*.md",),
        config="rules",
        gitignore=False,
        defaults=False,
        changed_since="main",
    ),
    render=RenderOptions(
        form=OutputFormat.XML,
        line_numbers=True,
        with_tree=True,
        mask=False,
        budget=1000,
        levels=(LevelRule("*.py", Level.OUTLINE),),
        symbols=(SymbolChoice("src/a.py", "f", SymbolDetail.HIDE),),
        diff="",
        log=3,
    ),
    max_bytes=5,
    encoding="cl100k_base",
    output="out.xml",
    lock="locks/my.lock",
)


def lock_of(request: dict[str, object], encoding: str = "cl100k_base") -> Lock:
    return Lock(request=request, encoding=encoding, sections={}, files=())


def test_a_request_comes_back_from_its_lock_seen_from_the_lock_s_folder() -> None:
    again = request_from_lock(lock_of(request_to_dict(REQUEST)), "/projects/shop/locks/my.lock")
    assert again == REQUEST._replace(
        cwd="/projects/shop/locks",
        selection=REQUEST.selection._replace(targets=("../src", "../../other"), config="../rules"),
        output="../out.xml",
        lock="/projects/shop/locks/my.lock",
    )


def test_what_was_not_given_stays_not_given() -> None:
    plain = ContextRequest(cwd="/p", lock="my.lock")
    assert request_from_lock(lock_of(request_to_dict(plain), "o200k_base"), "/p/my.lock") == plain._replace(
        lock="/p/my.lock"
    )


@pytest.mark.parametrize("name", request_to_dict(REQUEST))
def test_a_request_without_one_of_its_parts_is_refused(name: str) -> None:
    kept = {key: value for key, value in request_to_dict(REQUEST).items() if key != name}
    with pytest.raises(BadInput, match="the lock file has no valid request"):
        request_from_lock(lock_of(kept), "/my.lock")


def test_a_lock_with_an_unknown_word_or_estimates_is_refused() -> None:
    with pytest.raises(BadInput, match="the lock file has no valid request"):
        request_from_lock(lock_of({**request_to_dict(REQUEST), "format": "yaml"}), "/my.lock")
    with pytest.raises(BadInput, match="estimates"):
        request_from_lock(lock_of(request_to_dict(REQUEST), "bytes/4"), "/my.lock")


def test_a_record_collects_what_passes(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b.py")
    selection = select_files(
        resolve_targets([".", "b.py"], str(tmp_path)), SelectionRules(), lambda _: None, reasons=True
    )
    record = LockRecorder(REQUEST, "cl100k_base", [Section("tree", "Tree", b"p/\n")])
    chosen = (AnchoredSymbol("f", SymbolDetail.FULL),)
    items = [item("a.py", b"x")._replace(symbols=chosen), item("b.py", b"")._replace(level=Level.NAME)]
    assert list(record.record(items, selection)) == items
    found = record.to_lock()
    assert (found.encoding, found.sections) == ("cl100k_base", {"tree": sha256_hex(b"p/\n")})
    assert [(row.path, row.reason, row.symbols) for row in found.files] == [
        ("a.py", "because no rule matches it; full fits the budget", chosen),
        ("b.py", "named; name fits the budget", ()),
    ]


def test_a_lock_may_be_in_a_folder_that_is_no_utf_8(tmp_path: Path) -> None:
    odd = ContextRequest(cwd="/p", selection=FileSelection(targets=("\udcff",), rules=("!\udcfe",)), lock="my.lock")
    (tmp_path / "lock").write_bytes(dump_lock(lock_of(request_to_dict(odd))))
    again = request_from_lock(load_lock(str(tmp_path / "lock")), "/p/my.lock")
    assert (again.selection.targets, again.selection.rules) == (("\udcff",), ("!\udcfe",))
