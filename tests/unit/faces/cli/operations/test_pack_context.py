import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from fakes.apps import AppFakes
from fakes.context_formats import RULE, read_json, read_markdown, read_text, read_xml
from fakes.ports import FakeClipboard
from fakes.program import Program
from fakes.secrets import GITHUB_TOKEN, PASSWORD
from fakes.terminal import terminal
from marid.app.app import RequestScope
from marid.core.context import ContextView, Level, LevelRule, OutputFormat, SymbolChoice, SymbolDetail
from marid.core.errors import BadInput, NotFound
from marid.core.settings.values import make_settings
from marid.faces.cli.argv.option_tables import parse_options
from marid.faces.cli.operations.pack_context import context_request, read_file_list, run_context

DEFAULTS: dict[str, Any] = parse_options([]) or {}


def test_the_files_of_the_current_folder_are_written_as_text(marid: Program) -> None:
    marid.write({"a.py": "print()\n", "src/b.py": "x", "empty": ""})
    for name in ("a.py", "src/b.py", "empty"):
        os.utime(marid.folder / name, (0, 1_700_000_000))
    done = marid.context()
    time = b"Last Modified: 2023-11-14 22:13:20\n" + RULE + b"\n\n"
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        b"File: a.py\nSize: 8 bytes\n" + time + b"print()\n"
        b"\n" + RULE + b"\nFile: empty\nSize: 0 bytes\n" + time + b"\n"
        b"\n" + RULE + b"\nFile: src/b.py\nSize: 1 bytes\n" + time + b"x\n"
    )


def test_an_empty_project_is_empty_output(marid: Program) -> None:
    done = marid.context()
    assert (done.code, done.out, done.err) == (0, b"", "")


def test_several_targets_are_relative_to_what_holds_them_all(marid: Program) -> None:
    marid.write({"src/a/x.py": "1", "src/b/y.py": "2", "src/b/z.py": "3", "other": "4"})
    assert marid.context("-l", "src/b/z.py", "src/a").lines == ["a/x.py", "b/z.py"]
    assert marid.context("-l", str(marid.folder / "src" / "b")).lines == ["y.py", "z.py"]


def test_a_target_may_be_a_single_file(marid: Program) -> None:
    marid.write({"src/a.log": "1"})
    assert read_text(marid.context("src/a.log").out) == [("a.log", b"1")]


def test_rules_of_the_command_line_are_the_strongest(marid: Program) -> None:
    marid.write({"a.py": "", "b.md": "", "c.log": "", ".contextfiles": "!a.py\n"})
    assert marid.context("-l").lines == ["b.md"]
    assert marid.context("-l", "-r", "a.py", "--rule", "!*.md", "--rule=c.log").lines == ["a.py", "c.log"]


def test_only_narrows_what_the_rules_select(marid: Program) -> None:
    marid.write({"a.py": "1", "b.md": "2", "src/c.py": "3", "src/d.css": "4", "src/x/e.css": "5", "build/f.py": "6"})
    assert marid.context("-l", "--only", "*.py").lines == ["a.py", "src/c.py"]
    assert marid.context("-l", "--only", "/*.py", "--only", "src/x/").lines == ["a.py", "src/x/e.css"]
    assert marid.context("-l", "--only", "src/*.css", "--rule", "!src/").lines == []
    assert marid.context("-l", "--only", "*.py", "a.py", "b.md").lines == ["a.py"]
    for form, read in (("text", read_text), ("json", read_json), ("xml", read_xml), ("markdown", read_markdown)):
        assert [path for path, _ in read(marid.context("-f", form, "--only", "*.md").out)] == ["b.md"]
    assert marid.context("--only", "*.md", "--explain", "a.py").lines == [
        "a.py: excluded because no --only pattern matches it"
    ]
    assert marid.context("--only", "*.md", "--explain", "b.md").lines == ["b.md: included because no rule matches it"]


@pytest.mark.parametrize("pattern", ["!*.md", "", "# a"])
def test_what_is_no_pattern_to_keep_is_refused(marid: Program, pattern: str) -> None:
    done = marid.context("--only", pattern)
    assert (done.code, f"--only '{pattern}'" in done.err) == (2, True)


def test_rule_files_ignore_files_and_defaults_can_be_chosen(marid: Program) -> None:
    marid.write({"a.py": "", "b.py": "", "c.log": "", ".gitignore": "a.py\n", "rules": "!b.py\n!rules\n!.gitignore\n"})
    assert marid.context("-l", "--config", "rules").lines == []
    assert marid.context("-l", "--config", "rules", "--no-gitignore").lines == ["a.py"]
    assert marid.context("-l", "--config", "rules", "--no-defaults").lines == ["c.log"]


def test_a_list_is_quoted_or_separated_by_nul(marid: Program) -> None:
    marid.write({"a b": "", "new\nline": "", "bad\udcff": "", "é": ""})
    assert marid.context("--list-only").lines == ["a b", '"bad\\377"', '"new\\nline"', "é"]
    assert marid.context("-l", "-0").out == "a b\0bad\udcff\0new\nline\0é\0".encode("utf-8", "surrogateescape")
    assert marid.context("-lz").out == marid.context("-l", "--null").out


def test_every_form_can_be_chosen(marid: Program) -> None:
    files = {"a.py": "x = '```'\n", "b.xml": "<![CDATA[]]>\r\n"}
    marid.write(files)
    expected = [(name, text.encode()) for name, text in files.items()]
    assert read_json(marid.context("-f", "json").out) == expected
    assert read_xml(marid.context("--format=xml").out) == list(files.items())
    assert marid.context("--format", "markdown").text.startswith("## `a.py`\n\n````python\n")


def test_lines_can_be_numbered_and_the_tree_put_first(marid: Program) -> None:
    marid.write({"a.py": "x\ny\n"})
    assert marid.context("-n").text.endswith("\n\n1: x\n2: y\n")
    assert marid.context("--with-tree").text.startswith("Tree\nContent: ")


def test_tree_and_statistics_can_be_had_alone(marid: Program) -> None:
    marid.write({"src/a.py": "x\n"})
    assert marid.context("--tree").lines == ["project/", "└── src/", "    └── a.py"]
    assert marid.context("--tree", "--tokens").lines[-1] == "    └── a.py (2 tokens)"
    assert marid.context("--stats").lines[0] == "1 files, 2 B, 2 tokens (o200k_base)"
    assert json.loads(marid.context("--stats", "-f", "json").out)["folders"][0]["path"] == "src"
    assert marid.context("--stats", "--encoding", "cl100k_base").lines[0].endswith("(cl100k_base)")


def test_output_is_written_to_a_file_and_never_holds_itself(marid: Program) -> None:
    marid.write({"a.py": "x\n"})
    for _ in range(2):
        done = marid.context("-o", "out.txt", "--no-defaults")
        assert (done.code, done.out) == (0, b"")
        assert read_text((marid.folder / "out.txt").read_bytes()) == [("a.py", b"x\n")]
    os.link(marid.folder / "out.txt", marid.folder / "hard.txt")
    (marid.folder / "soft.txt").symlink_to("out.txt")
    marid.context("-o", "out.txt")
    assert read_text((marid.folder / "out.txt").read_bytes()) == [("a.py", b"x\n")]


def test_what_a_shell_redirects_does_not_hold_itself_either(marid: Program) -> None:
    marid.write({"a.py": "x\n", "z.py": "y\n"})
    with (marid.folder / "out.txt").open("w") as file, redirect_stdout(file):
        assert marid.context().code == 0
    assert read_text((marid.folder / "out.txt").read_bytes()) == [("a.py", b"x\n"), ("z.py", b"y\n")]


def test_an_error_leaves_the_old_output(marid: Program) -> None:
    marid.write({"a.py": "x" * 5000, "out.txt": "old"})
    assert marid.context("-o", "out.txt", "--max-size-mb", "0.001").code == 5
    assert (marid.folder / "out.txt").read_text() == "old"
    assert sorted(os.listdir(marid.folder)) == ["a.py", "out.txt"]


def test_output_goes_to_the_clipboard(marid: Program, tmp_path: Path) -> None:
    marid.write({"a.py": "x\n"})
    place = tmp_path / "bin"
    place.mkdir()
    (place / "xclip").write_text(f"#!/bin/sh\ncat > '{tmp_path}/copied'\n")
    (place / "xclip").chmod(0o755)
    marid.set(PATH=f"{place}:/usr/bin:/bin", DISPLAY=":0", WAYLAND_DISPLAY="")
    done = marid.context("--copy")
    assert (done.code, done.out, done.err) == (0, b"", "marid: copied with xclip\n")
    assert read_text((tmp_path / "copied").read_bytes()) == [("a.py", b"x\n")]


def test_without_a_clipboard_that_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outside = AppFakes(clipboard=FakeClipboard())
    options = DEFAULTS | {"copy": True}
    assert run_context(options, lambda: outside.scope(str(tmp_path))) == 0
    assert outside.clipboard.copied == [b""]
    assert capfd.readouterr().err == "marid: copied with fake\n"


@pytest.mark.parametrize(("args", "total"), [([], "1MB"), (["--max-size-mb", "0.5"], "0.5MB")])
def test_too_much_is_refused_before_the_first_byte(marid: Program, args: list[str], total: str) -> None:
    marid.set(JINNI_MAX_SIZE_MB="1")
    marid.write({"a.txt": "x" * 600_000, "b.txt": "y" * 600_000, "large.bin": b"\0" * 3_000_000})
    told = marid.context(*args)
    assert (told.code, told.out) == (5, b"")
    assert told.err.startswith(f"marid: Total content size exceeds limit of {total}: 1.2 MB in 3 files.\n")
    assert marid.context("-l").code == marid.context("--tree").code == 0
    assert marid.context("--rule", "!/a.txt", "--max-size-mb", "1").code == 0


def test_secrets_are_masked_and_counted_on_stderr(marid: Program) -> None:
    marid.write({"a.py": f"T = '{GITHUB_TOKEN}'\n", "b.yaml": f"password: {PASSWORD}\n"})
    done = marid.context()
    assert GITHUB_TOKEN not in done.text
    assert PASSWORD not in done.text
    assert done.err.endswith("; masked 2 secrets (--no-mask keeps them)\n")
    kept = marid.context("--no-mask")
    assert (GITHUB_TOKEN in kept.text, PASSWORD in kept.text, kept.err) == (True, True, "")
    assert marid.context("-q").err == ""


def test_levels_are_chosen_by_pattern(marid: Program) -> None:
    marid.write({"a.py": "def f():\n" + "    x = 1\n" * 20, "b.py": "y = 2\n", "c.py": "z = 3\n"})
    text = marid.context("--level", "a.py=outline", "--level", "b.py=name").text
    assert "File: a.py\nSize: 209 bytes\n" in text
    assert "Level: outline\n" in text
    assert "1-21 def f()" in text
    assert "x = 1" not in text
    assert "y = 2" not in text
    assert "By name only: 1 files" in text


def test_symbols_are_chosen_by_name(marid: Program) -> None:
    marid.write({"src/a.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n", "b.py": "y = 2\n"})
    text = marid.context("--symbol", "src/a.py::g=full").text
    assert "Lines: 5-6\n" in text
    assert "def g():\n    return 2\n" in text
    assert "def f()" not in text
    assert "y = 2" in text
    assert "def f():  ⋮ 1-2\n" in marid.context("src", "--symbol", "src/a.py::f=signature").text
    told = marid.context("--symbol", "gone.py::f=full")
    assert (told.code, told.err) == (4, "marid: --symbol: gone.py is not selected\n")
    assert marid.context("--symbol", "b.py::gone=hide").code == 4


def test_a_budget_is_kept_or_refused(marid: Program) -> None:
    marid.write({f"{name}.py": f"def {name}():\n" + "    x = 1\n" * 200 for name in "abc"})
    done = marid.context("--budget", "300")
    assert done.code == 0
    assert "Level: outline" in done.text
    told = marid.context("--budget", "5")
    assert (told.code, told.out) == (5, b"")
    assert marid.context("--budget", "0").code == 2


def test_why_a_file_is_in_or_out_is_told(marid: Program) -> None:
    marid.write({".contextfiles": "!*.md\n", "a.md": "", "b.py": ""})
    assert marid.context("--explain", "a.md").text == "a.md: excluded by '!*.md', .contextfiles:1\n"
    assert marid.context("--explain", "b.py", "-r", "!b.py").text == "b.py: excluded by '!b.py', --rule:1\n"
    assert marid.context("--explain", "gone").code == 4


def test_notes_about_the_settings_are_told_unless_quiet(marid: Program) -> None:
    home = marid.folder.parent / "home"
    home.mkdir()
    (home / "config.toml").write_text("auto_compact = true\n")
    assert marid.context().err == f"marid: {home}/config.toml:1: 'auto_compact' is not supported yet\n"
    assert marid.context("-q").err == ""


def test_links_and_special_files_are_counted(marid: Program) -> None:
    marid.write({"a.py": "x"})
    (marid.folder / "link").symlink_to("a.py")
    os.mkfifo(marid.folder / "pipe")
    assert marid.context().err == "marid: 1 files, 1 B; skipped 1 symbolic link, 1 special file\n"


def test_on_a_terminal_the_end_is_told(marid: Program) -> None:
    marid.write({"a.py": "x"})
    glass = marid.folder.parent / "glass"
    with terminal() as screen:
        args = [sys.executable, "-m", "marid", "context", "-o", str(glass)]
        subprocess.run(args, stderr=screen.file, timeout=60, check=True)
        assert screen.text() == "marid: 1 files, 1 B\n"


def test_watching_needs_something_to_write(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--watch needs --output FILE"):
        run_context(DEFAULTS | {"watch": True}, lambda: AppFakes().scope(str(tmp_path)))


def test_a_watch_goes_on_until_ctrl_c(marid: Program) -> None:
    marid.write({"a.py": "one\n"})
    out = marid.folder.parent / "out.txt"
    os.mkfifo(out)
    command = [sys.executable, "-m", "marid", "context", "--watch", "-o", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert b"one\n" in out.read_bytes()
        (marid.folder / "a.py").write_text("two\n")
        assert b"two\n" in out.read_bytes()
        started.send_signal(signal.SIGINT)
        assert started.communicate(timeout=60) == (b"", b"")
    assert started.returncode == 130


def test_differences_from_a_lock_are_told_and_may_set_the_exit_code(marid: Program) -> None:
    marid.write({"a.py": "x\n"})
    assert marid.context("--lock", "my.lock").code == 0
    assert marid.context("diff", "my.lock", "--exit-code").lines == []
    marid.write({"b.py": "y\n"})
    same = marid.context("diff", "my.lock")
    assert (same.code, same.lines) == (0, ["+ b.py (full, 2 tokens)"])
    assert marid.context("diff", "my.lock", "--exit-code").code == 1
    assert marid.context("diff", "gone.lock").code == 4


def test_a_folder_called_diff_may_be_packed(marid: Program) -> None:
    marid.write({"diff/a.py": "", "src/b.py": ""})
    assert marid.context("-l", "diff", "src").lines == ["diff/a.py", "src/b.py"]


APP: RequestScope = AppFakes().scope("/p", make_settings(max_size_mb=2.0, encoding="cl100k_base"))


def options(**given: Any) -> dict[str, Any]:
    return DEFAULTS | {"targets": (".",)} | given


def test_every_option_finds_its_place() -> None:
    request = context_request(
        options(
            targets=("a", "b"),
            rules=("!x",),
            only=("*.py",),
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
    assert wanted.only == ("*.py",)
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
        ({"copy": True, "output": "x"}, "exclude each other"),
        ({"list_only": True, "tree": True}, "--list-only cannot be combined with --tree or --stats"),
        ({"tree": True, "form": "json"}, "--tree needs --format text"),
        ({"stats": True, "form": "xml"}, "text or json"),
        ({"list_only": True, "form": "markdown"}, "text or json"),
        ({"null": True}, "-0 needs --list-only or --files-from"),
        ({"stats": True, "budget": 5}, "--budget and --lock cannot be combined"),
        ({"list_only": True, "lock": "x"}, "--budget and --lock cannot be combined"),
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
    return read_file_list(options(**{"files_from": "list", "targets": (), **given}), str(top))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("a.py", "b c.py", "new\nline", '"q"', os.fsdecode(b"\xff")):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("data", "given", "found"),
    [
        (b"a.py\n\nb c.py\r\n", {}, ("a.py", "b c.py")),
        # A listed path may be quoted as we and git quote it; paths separated by NUL are taken as they are.
        (b'"new\\nline"\n"\\"q\\""\n"\\377"\n', {}, ("new\nline", '"q"', "\udcff")),
        (b'a.py\0new\nline\0"q"\0', {}, ("a.py", "new\nline", '"q"')),
        (b"new\nline", {"null": True}, ("new\nline",)),
        (b"a.py\n", {"targets": ("x", "y")}, ("x", "y", "a.py")),
        (b"", {"targets": ("x",)}, ("x",)),
        (b"", {"files_from": ""}, ()),
    ],
)
def test_targets_are_listed(files: Path, data: bytes, given: dict[str, Any], found: tuple[str, ...]) -> None:
    assert listed(files, data, **given) == found


def test_a_listed_file_that_is_gone_is_told_and_left_out(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(files, b'a.py\ngone.py\n"go\\nne"\n') == ("a.py",)
    assert capsys.readouterr().err == (
        "marid: skipped 'gone.py': no such file\nmarid: skipped '\"go\\nne\"': no such file\n"
    )


@pytest.mark.parametrize("data", [b"", b"\n \n", b"gone\n"])
def test_a_list_of_nothing_is_refused(files: Path, data: bytes) -> None:
    with pytest.raises(BadInput, match="the list 'list' has no existing file"):
        listed(files, data)


def test_a_list_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="cannot read the list 'gone': No such file"):
        read_file_list(options(files_from="gone"), str(tmp_path))


def test_a_list_may_come_from_another_program(marid: Program) -> None:
    marid.write({"a.py": "1", "b.py": "2", "new\nline": "3"})
    assert marid.apart("context", "-l", "--files-from", "-", given=b"b.py\n").text == "b.py\n"
    names = marid.context("-l", "-0").out
    assert marid.apart("context", "-l", "-0", "--files-from", "-", given=names).out == names
