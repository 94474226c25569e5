from pathlib import Path

import pytest

from fakes.context_formats import item
from fakes.trees import plant_names
from marid.assembly.items import Section
from marid.assembly.lock.lock_file import Lock, dump_lock, load_lock
from marid.assembly.lock.recorder import LockRecorder, request_from_lock, request_to_dict
from marid.assembly.selection import resolve_targets, select_files
from marid.assembly.symbol_excerpts import AnchoredSymbol
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
from marid.core.errors import BadInput
from marid.text.content_hash import sha256_hex
from marid.workspace.walk import SelectionRules

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


def lock(request: dict[str, object], encoding: str = "cl100k_base") -> Lock:
    return Lock(request=request, encoding=encoding, sections={}, files=())


def test_a_request_comes_back_from_its_lock_seen_from_the_lock_s_folder() -> None:
    again = request_from_lock(lock(request_to_dict(REQUEST)), "/projects/shop/locks/my.lock")
    assert again == REQUEST._replace(
        cwd="/projects/shop/locks",
        selection=REQUEST.selection._replace(targets=("../src", "../../other"), config="../rules"),
        output="../out.xml",
        lock="/projects/shop/locks/my.lock",
    )


def test_what_was_not_given_stays_not_given() -> None:
    plain = ContextRequest(cwd="/p", lock="my.lock")
    assert request_from_lock(lock(request_to_dict(plain), "o200k_base"), "/p/my.lock") == plain._replace(
        lock="/p/my.lock"
    )


@pytest.mark.parametrize("name", request_to_dict(REQUEST))
def test_a_request_without_one_of_its_parts_is_refused(name: str) -> None:
    kept = {key: value for key, value in request_to_dict(REQUEST).items() if key != name}
    with pytest.raises(BadInput, match="the lock file has no valid request"):
        request_from_lock(lock(kept), "/my.lock")


def test_a_request_with_an_unknown_word_is_refused() -> None:
    with pytest.raises(BadInput, match="the lock file has no valid request"):
        request_from_lock(lock({**request_to_dict(REQUEST), "format": "yaml"}), "/my.lock")


def test_a_lock_of_estimated_tokens_is_refused() -> None:
    with pytest.raises(BadInput, match="estimates"):
        request_from_lock(lock(request_to_dict(REQUEST), "bytes/4"), "/my.lock")


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
    (tmp_path / "lock").write_bytes(dump_lock(lock(request_to_dict(odd))))
    again = request_from_lock(load_lock(str(tmp_path / "lock")), "/p/my.lock")
    assert (again.selection.targets, again.selection.rules) == (("\udcff",), ("!\udcfe",))
