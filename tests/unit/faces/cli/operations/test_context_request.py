import os
from pathlib import Path
from typing import Any

import pytest

from fakes.apps import AppFakes
from fakes.program import Program
from marid.app.app import RequestScope
from marid.core.context import ContextView, Level, LevelRule, OutputFormat, SymbolChoice, SymbolDetail
from marid.core.errors import BadInput, NotFound
from marid.core.settings.values import make_settings
from marid.faces.cli.argv.context_options import defaults
from marid.faces.cli.operations.context_request import context_request, read_file_list

APP: RequestScope = AppFakes().scope("/p", make_settings(max_size_mb=2.0, encoding="cl100k_base"))


def options(**given: Any) -> dict[str, Any]:
    return defaults() | {"targets": (".",)} | given


def test_every_option_finds_its_place() -> None:
    request = context_request(
        options(
            targets=("a", "b"),
            rules=("!x",),
            config="rules",
            no_gitignore=True,
            no_defaults=True,
            changed_since="main",
            branch="v1",
            form="json",
            line_numbers=True,
            with_tree=True,
            tokens=True,
            no_mask=True,
            budget=5,
            levels=("*.py=outline", "a=b=name"),
            symbols=("./src/a.py::Shop.open=signature", "b.cpp::X::f=hide"),
            diff="",
            log=3,
            output="out",
            lock="my.lock",
            frozen=True,
            max_size_mb=1.0,
            encoding="o200k_base",
        ),
        APP,
    )
    wanted, shown = request.selection, request.render
    assert (wanted.targets, wanted.rules, wanted.config, wanted.branch) == (("a", "b"), ("!x",), "rules", "v1")
    assert (wanted.gitignore, wanted.defaults, wanted.changed_since) == (False, False, "main")
    assert (shown.form, shown.views, shown.line_numbers, shown.with_tree) == (
        OutputFormat.JSON,
        (ContextView.CONTENT,),
        True,
        True,
    )
    assert (shown.tokens, shown.mask, shown.budget, shown.diff, shown.log) == (True, False, 5, "", 3)
    assert shown.levels == (LevelRule("*.py", Level.OUTLINE), LevelRule("a=b", Level.NAME))
    assert shown.symbols == (
        SymbolChoice("src/a.py", "Shop.open", SymbolDetail.SIGNATURE),
        SymbolChoice("b.cpp", "X::f", SymbolDetail.HIDE),
    )
    assert (request.cwd, request.output, request.lock, request.frozen) == ("/p", "out", "my.lock", True)
    assert (request.max_bytes, request.encoding) == (1 << 20, "o200k_base")


def test_what_is_not_given_comes_from_the_settings() -> None:
    request = context_request(options(), APP)
    assert (request.max_bytes, request.encoding, request.render.mask) == (2 << 20, "cl100k_base", True)


def test_masking_that_the_settings_turned_off_stays_off() -> None:
    assert not context_request(options(), AppFakes().scope("/p", make_settings(mask=False))).render.mask


@pytest.mark.parametrize(
    ("given", "views"),
    [
        ({"list_only": True}, (ContextView.LIST,)),
        ({"tree": True}, (ContextView.TREE,)),
        ({"stats": True, "tree": True}, (ContextView.TREE, ContextView.STATS)),
        ({"list_only": True, "form": "json"}, (ContextView.LIST,)),
        ({"stats": True, "form": "json"}, (ContextView.STATS,)),
        ({}, (ContextView.CONTENT,)),
    ],
)
def test_a_view_is_chosen_by_its_flag(given: dict[str, Any], views: tuple[ContextView, ...]) -> None:
    assert context_request(options(**given), APP).render.views == views


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"frozen": True}, "--frozen needs --lock FILE"),
        ({"budget": 0}, "--budget must be at least 1, not 0"),
        ({"copy": True, "output": "x"}, "choose one"),
        ({"list_only": True, "tree": True}, "--list-only goes with neither --tree nor --stats"),
        ({"tree": True, "form": "json"}, "a tree is drawn as text"),
        ({"stats": True, "form": "xml"}, "text or json"),
        ({"list_only": True, "form": "markdown"}, "text or json"),
        ({"null": True}, "-0 goes with --list-only or --files-from"),
        ({"stats": True, "budget": 5}, "--budget and --lock are about the files themselves"),
        ({"list_only": True, "lock": "x"}, "--budget and --lock are about the files themselves"),
        ({"max_size_mb": 0.0}, "above 0"),
        ({"max_size_mb": float("inf")}, "above 0"),
        ({"levels": ("*.py",)}, "--level '\\*.py' must be PATTERN=full"),
        ({"levels": ("*.py=half",)}, "must be PATTERN=full"),
        ({"levels": ("=full",)}, "must be PATTERN=full"),
        ({"symbols": ("a.py=full",)}, "--symbol 'a.py=full' must be PATH::NAME=full"),
        ({"symbols": ("a.py::=full",)}, "must be PATH::NAME=full"),
        ({"symbols": ("a.py::f",)}, "must be PATH::NAME=full"),
        ({"symbols": ("a.py::f=half",)}, "must be PATH::NAME=full"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        context_request(options(**given), APP)


def listed(top: Path, data: bytes, **given: Any) -> tuple[str, ...]:
    (top / "list").write_bytes(data)
    return read_file_list(options(files_from="list", **{"targets": (), **given}), str(top))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("a.py", "b c.py", "new\nline", '"q"', os.fsdecode(b"\xff")):
        (tmp_path / name).touch()
    return tmp_path


def test_without_a_list_there_are_no_more_targets() -> None:
    assert read_file_list(options(), "/") == ()


def test_a_list_has_one_path_a_line(files: Path) -> None:
    assert listed(files, b"a.py\n\nb c.py\r\n") == ("a.py", "b c.py")


def test_a_listed_path_may_be_quoted_as_we_and_git_quote_it(files: Path) -> None:
    assert listed(files, b'"new\\nline"\n"\\"q\\""\n"\\377"\n') == ("new\nline", '"q"', "\udcff")


def test_paths_separated_by_nul_are_taken_as_they_are(files: Path) -> None:
    assert listed(files, b'a.py\0new\nline\0"q"\0') == ("a.py", "new\nline", '"q"')
    assert listed(files, b"new\nline", null=True) == ("new\nline",)


def test_targets_of_the_command_line_stay(files: Path) -> None:
    assert listed(files, b"a.py\n", targets=("x", "y")) == ("x", "y", "a.py")
    assert listed(files, b"", targets=("x",)) == ("x",)


def test_a_listed_file_that_is_gone_is_told_and_left_out(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(files, b'a.py\ngone.py\n"go\\nne"\n') == ("a.py",)
    assert capsys.readouterr().err == (
        "marid: skipped 'gone.py': it is not there\nmarid: skipped '\"go\\nne\"': it is not there\n"
    )


@pytest.mark.parametrize("data", [b"", b"\n \n", b"gone\n"])
def test_a_list_of_nothing_is_refused(files: Path, data: bytes) -> None:
    with pytest.raises(BadInput, match="the list 'list' names no file that is there"):
        listed(files, data)


def test_a_list_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="the list 'gone' cannot be read: No such file"):
        read_file_list(options(files_from="gone"), str(tmp_path))


def test_a_list_may_come_from_another_program(marid: Program) -> None:
    marid.write({"a.py": "1", "b.py": "2", "new\nline": "3"})
    assert marid.apart("context", "-l", "--files-from", "-", given=b"b.py\n").text == "b.py\n"
    names = marid.context("-l", "-0").out
    assert marid.apart("context", "-l", "-0", "--files-from", "-", given=names).out == names
