from pathlib import Path

import pytest

from fakes.readers import item
from fakes.trees import plant_names
from marid.assembly.items import Section
from marid.assembly.lock import Lock, digest, dump, load
from marid.assembly.locking import Record, from_lock, to_dict
from marid.assembly.select import locate, select
from marid.assembly.symbols import Chosen
from marid.core.context import Choice, ContextRequest, Form, Level, LevelRule, Shown, SymbolChoice, Wanted
from marid.core.errors import BadInput
from marid.workspace.walk import Ruling

REQUEST = ContextRequest(
    cwd="/projects/shop",
    wanted=Wanted(
        targets=("src", "../other"),
        rules=("!*.md",),
        config="rules",
        gitignore=False,
        defaults=False,
        changed_since="main",
    ),
    shown=Shown(
        form=Form.XML,
        line_numbers=True,
        with_tree=True,
        mask=False,
        budget=1000,
        levels=(LevelRule("*.py", Level.OUTLINE),),
        symbols=(SymbolChoice("src/a.py", "f", Choice.HIDE),),
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
    again = from_lock(lock(to_dict(REQUEST)), "/projects/shop/locks/my.lock")
    assert again == REQUEST._replace(
        cwd="/projects/shop/locks",
        wanted=REQUEST.wanted._replace(targets=("../src", "../../other"), config="../rules"),
        output="../out.xml",
        lock="/projects/shop/locks/my.lock",
    )


def test_what_was_not_given_stays_not_given() -> None:
    plain = ContextRequest(cwd="/p", lock="my.lock")
    assert from_lock(lock(to_dict(plain), "o200k_base"), "/p/my.lock") == plain._replace(lock="/p/my.lock")


@pytest.mark.parametrize("name", to_dict(REQUEST))
def test_a_request_without_one_of_its_parts_is_refused(name: str) -> None:
    kept = {key: value for key, value in to_dict(REQUEST).items() if key != name}
    with pytest.raises(BadInput, match="does not say how its pack was asked for"):
        from_lock(lock(kept), "/my.lock")


def test_a_request_with_an_unknown_word_is_refused() -> None:
    with pytest.raises(BadInput, match="does not say how its pack was asked for"):
        from_lock(lock({**to_dict(REQUEST), "format": "yaml"}), "/my.lock")


def test_a_lock_of_estimated_tokens_is_refused() -> None:
    with pytest.raises(BadInput, match="estimated"):
        from_lock(lock(to_dict(REQUEST), "bytes/4"), "/my.lock")


def test_a_record_collects_what_passes(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b.py")
    selection = select(locate([".", "b.py"], str(tmp_path)), Ruling(), lambda _: None, reasons=True)
    record = Record(REQUEST, "cl100k_base")
    record.note([Section("tree", "Tree", b"p/\n")])
    chosen = (Chosen("f", Choice.FULL),)
    items = [item("a.py", b"x"), item("b.py", b"")._replace(level=Level.NAME)]
    assert list(record.watch(items, selection, {"a.py": chosen})) == items
    found = record.lock()
    assert (found.encoding, found.sections) == ("cl100k_base", {"tree": digest(b"p/\n")})
    assert [(row.path, row.reason, row.symbols) for row in found.files] == [
        ("a.py", "because no rule matches it; full fits the budget", chosen),
        ("b.py", "named; name fits the budget", ()),
    ]


def test_a_lock_may_be_in_a_folder_that_is_no_utf_8(tmp_path: Path) -> None:
    odd = ContextRequest(cwd="/p", wanted=Wanted(targets=("\udcff",), rules=("!\udcfe",)), lock="my.lock")
    (tmp_path / "lock").write_bytes(dump(lock(to_dict(odd))))
    again = from_lock(load(str(tmp_path / "lock")), "/p/my.lock")
    assert (again.wanted.targets, again.wanted.rules) == (("\udcff",), ("!\udcfe",))
