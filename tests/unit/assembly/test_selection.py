import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.context_formats import paths as any_paths
from fakes.files import as_nobody
from fakes.program import Program
from fakes.trees import plant, plant_names, plant_repository, scratch
from fakes.trees import selected as walk_selects
from marid.assembly.selection import (
    Selection,
    Targets,
    admit_named_files,
    check_size,
    exclusion_rule,
    make_admission_check,
    make_selection_rules,
    resolve_targets,
    select_files,
)
from marid.core.context import FileSelection
from marid.core.errors import BadInput, Exhausted, NotFound
from marid.core.events import ContextEvent, FileProblem
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import Folder, SelectionRules


def selected(top: Path, *targets: str, rules: tuple[str, ...] = ()) -> Selection:
    ruling = make_selection_rules(FileSelection(rules=rules), str(top), UserGitFiles())
    return select_files(resolve_targets(targets or ["."], str(top)), ruling, lambda _: None, reasons=True)


def paths(selection: Selection) -> list[str]:
    return list(selection.paths())


def test_the_top_is_the_common_folder_of_the_targets(tmp_path: Path) -> None:
    assert resolve_targets(["."], str(tmp_path)) == Targets(str(tmp_path), ("",), ())
    plant_names(tmp_path, "src/a/x.py", "src/b/y.py", "src/b/z.py")
    assert resolve_targets(["src/b/z.py", "src/a", "src/b/y.py"], str(tmp_path)) == Targets(
        str(tmp_path / "src"), ("a",), ("b/y.py", "b/z.py")
    )
    plant_names(tmp_path, "src/x.py")
    assert resolve_targets(["src/x.py"], str(tmp_path)) == Targets(str(tmp_path / "src"), (), ("x.py",))


def test_the_top_of_the_disk_is_a_target_too() -> None:
    assert resolve_targets(["/", "/etc"], "/") == Targets("/", ("", "etc"), ())


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        ("gone", NotFound, "gone: not found"),
        ("file/below", NotFound, "not found"),
        ("a\0b", BadInput, "NUL"),
        ("pipe", BadInput, "pipe: not a file or folder"),
        ("l\noop", NotFound, r'"l\\noop"'),
    ],
)
def test_a_target_that_cannot_be_is_refused(tmp_path: Path, target: str, error: type, words: str) -> None:
    plant_names(tmp_path, "file")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(error, match=words):
        resolve_targets([target], str(tmp_path))


def test_a_target_behind_a_closed_folder_is_told_so() -> None:
    with scratch() as top:
        plant_names(top, "closed/x")
        os.chmod(top, 0o755)
        os.chmod(f"{top}/closed", 0)
        with as_nobody(), pytest.raises(BadInput, match="permission denied"):
            resolve_targets(["closed/x"], top)


def test_no_targets_are_refused() -> None:
    with pytest.raises(BadInput, match="no target"):
        resolve_targets([], "/")


def test_files_of_several_targets_come_once_in_the_order_of_a_walk(tmp_path: Path) -> None:
    plant_names(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a-b/x.py", "c/d.py")
    found = selected(tmp_path, "c", "a", "a/b", "b.py", "a-b")
    assert paths(found) == ["b.py", "a/z.py", "a/b/c.py", "a-b/x.py", "c/d.py"]
    assert (found.file_count(), found.named_paths) == (5, {"b.py"})


def test_a_named_file_is_in_whatever_the_rules_of_the_project_say(tmp_path: Path) -> None:
    plant(tmp_path, {"x.log": "", ".gitignore": "x.log\n", ".contextfiles": "!*.log\n", "node_modules/m.js": ""})
    found = selected(tmp_path, "x.log", "node_modules/m.js")
    assert paths(found) == ["x.log", "node_modules/m.js"]
    assert [found.reason(path) for path in paths(found)] == ["named", "named"]


def test_only_a_rule_of_the_command_line_excludes_a_named_file(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b.py")
    assert paths(selected(tmp_path, "a.py", "b.py", rules=("!b.py",))) == ["a.py"]
    plant_names(tmp_path, "a.log", "b.py")
    targets = resolve_targets(["a.log", "b.py"], str(tmp_path))
    assert admit_named_files(
        targets, make_selection_rules(FileSelection(rules=("!c.py", "b.py")), "/", UserGitFiles())
    ) == {"a.log", "b.py"}


def test_the_reason_for_a_file_is_its_rule(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "", "b.log": "", ".contextfiles": "b.log\n"})
    found = selected(tmp_path)
    assert [found.reason(path) for path in paths(found)] == [
        "because no rule matches it",
        "by 'b.log', .contextfiles:1",
    ]


def test_without_reasons_there_is_none(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py")
    found = select_files(resolve_targets(["."], str(tmp_path)), SelectionRules(), lambda _: None)
    assert found.reason("a.py") == ""


def test_a_selection_can_be_narrowed(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "b.py", "src/c.py", "src/d.py")
    assert paths(selected(tmp_path).restrict_to({"b.py", "src/d.py", "gone.py"})) == ["b.py", "src/d.py"]


def test_a_file_can_be_taken_out_and_a_folder_left_empty_goes_with_it(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.py", "src/out.txt")
    assert selected(tmp_path).exclude_path(str(tmp_path / "src" / "out.txt")).folders == [Folder("", ["a.py"])]


def test_taking_out_what_is_elsewhere_changes_nothing(tmp_path: Path) -> None:
    plant_names(tmp_path, "top/a.py", "a.py")
    found = selected(tmp_path / "top")
    assert found.exclude_path(str(tmp_path / "a.py")) == found


def test_a_file_is_taken_out_by_way_of_a_link_to_its_folder(tmp_path: Path) -> None:
    plant_names(tmp_path, "top/src/out.txt", "top/a")
    (tmp_path / "link").symlink_to(tmp_path / "top" / "src")
    assert paths(selected(tmp_path / "top").exclude_path(str(tmp_path / "link" / "out.txt"))) == ["a"]


def test_what_is_gone_is_judged_as_if_it_were_there(tmp_path: Path) -> None:
    plant(tmp_path, {"src/.contextfiles": "!x/\n*.log\n", "src/a.py": "", "b.bin": b"\0", "c.log": ""})
    admitted = make_admission_check(selected(tmp_path))
    there = {path: admitted(path) for path in ("src/a.py", "b.bin", "c.log")}
    assert there == {"src/a.py": True, "b.bin": True, "c.log": False}
    gone = {path: admitted(path) for path in ("d.py", "d.log", "src/d.log", "src/x/d.py", "src/y/d.py", "build/d.py")}
    assert [path for path, verdict in gone.items() if verdict] == ["d.py", "src/d.log", "src/y/d.py"]


def test_what_is_gone_belongs_to_the_folders_that_were_named(tmp_path: Path) -> None:
    plant(tmp_path, {"build/.gitignore": "*.o\n", "src/a.py": "", "srcs/b.py": ""})
    admitted = make_admission_check(selected(tmp_path, "build", "src"))
    gone = [path for path in ("build/d.py", "build/d.o", "src/d.py", "srcs/d.py", "d.py") if admitted(path)]
    assert gone == ["build/d.py", "src/d.py"]


def test_a_rule_file_that_is_not_there_is_told() -> None:
    with pytest.raises(NotFound, match="gone: rule file"):
        make_selection_rules(FileSelection(config="gone"), "/", UserGitFiles())


def test_rules_of_the_settings_count_with_those_of_the_rule_file(tmp_path: Path) -> None:
    plant(tmp_path, {"rules": "!a.py\n", "a.py": "", "b.py": "", "c.py": ""})
    ruling = make_selection_rules(FileSelection(config="rules"), str(tmp_path), UserGitFiles(), ("!b.py",))
    assert paths(select_files(resolve_targets(["."], str(tmp_path)), ruling, lambda _: None)) == ["c.py", "rules"]
    assert make_selection_rules(FileSelection(), str(tmp_path), UserGitFiles(), ("!b.py",)).config_origin == "settings"


def test_ignore_files_and_defaults_can_be_turned_off(tmp_path: Path) -> None:
    plant_repository(tmp_path)
    plant(tmp_path, {".gitignore": "a.py\n", "a.py": "", "b.log": ""})
    ruling = make_selection_rules(
        FileSelection(gitignore=False, defaults=False, rules=("!.git",)), str(tmp_path), UserGitFiles()
    )
    assert paths(select_files(resolve_targets(["."], str(tmp_path)), ruling, lambda _: None)) == [
        ".gitignore",
        "a.py",
        "b.log",
    ]


def test_a_folder_that_cannot_be_listed_is_told_and_survived() -> None:
    told: list[ContextEvent] = []
    with scratch() as top:
        plant_names(top, "a.py", "closed\n/b.py")
        os.chmod(top, 0o755)
        os.chmod(f"{top}/closed\n", 0)
        with as_nobody():
            assert paths(select_files(resolve_targets(["."], top), SelectionRules(), told.append)) == ["a.py"]
    assert told == [FileProblem(path='"closed\\n"', reason="permission denied")]


KB = 1 << 10
MB = 1 << 20


def selection(top: Path) -> Selection:
    return select_files(resolve_targets([str(top)], "/"), SelectionRules(), lambda _: None)


def test_files_up_to_the_limit_are_accepted_and_not_one_byte_more(tmp_path: Path) -> None:
    plant(tmp_path, {"a": b"x" * 600, "b": b"x" * 424})
    check_size(selection(tmp_path), KB)
    plant(tmp_path, {"a": b"x" * 600, "b": b"x" * 425})
    with pytest.raises(Exhausted):
        check_size(selection(tmp_path), KB)


def test_the_message_names_the_limit_and_the_ten_largest_with_a_rule_each(tmp_path: Path) -> None:
    plant(tmp_path, {f"src/{n:02}.txt": b"x" * (n * 20_000) for n in range(1, 13)})
    with pytest.raises(Exhausted) as caught:
        check_size(selection(tmp_path), MB)
    first, _, *rows, last = str(caught.value).split("\n")
    assert first == "Total content size exceeds limit of 1MB: 1.6 MB in 12 files."
    assert [row.split() for row in rows[:2]] == [
        ["240.0", "KB", "src/12.txt", "--rule", "'!/src/12.txt'"],
        ["220.0", "KB", "src/11.txt", "--rule", "'!/src/11.txt'"],
    ]
    assert len(rows) == 10
    assert "--max-size-mb N (or JINNI_MAX_SIZE_MB)" in last


def test_a_large_binary_does_not_count_and_a_small_one_does(tmp_path: Path) -> None:
    plant(tmp_path, {"large.bin": b"\0" * (2 * MB), "a": b"x"})
    check_size(selection(tmp_path), KB)
    plant(tmp_path, {"small.bin": b"\0" * (2 * KB)})
    with pytest.raises(Exhausted):
        check_size(selection(tmp_path), KB)


HOSTILE = [
    "a b",
    "trail ",
    "tab\t",
    "end\n",
    "new\nline",
    "*.py",
    "[ab]?",
    "back\\slash",
    "it's",
    "\udcff\udcfe",
    "é\x1b",
    "!x",
    "#x",
    "dir /x ",
    '"q"',
]


@pytest.mark.parametrize("name", HOSTILE)
def test_the_printed_rule_given_back_by_a_shell_excludes_that_file_and_no_other(marid: Program, name: str) -> None:
    plant(marid.folder, {name: b"x" * 900, "other": b"x" * 200, "abx": b"", "a?x": b""})
    told = marid.context("--max-size-mb", "0.001")
    assert (told.code, told.out) == (5, b"")
    rule = told.err.split("  --rule ")[1].split("\n")[0]
    script = f"printf '%s\\0' {rule}"
    given_back = subprocess.run(["bash", "-c", script], capture_output=True, timeout=20, check=True).stdout
    again = marid.context("-l", "-0", "--rule", os.fsdecode(given_back.removesuffix(b"\0")))
    assert sorted(again.out.split(b"\0")) == [b"", b"a?x", b"abx", b"other"]


@settings(deadline=None)
@given(st.lists(any_paths().filter(lambda path: not {".", ".."} & set(path.split("/"))), min_size=1, max_size=3))
def test_a_rule_excludes_its_file(names: list[str]) -> None:
    with scratch() as top:
        with suppress(OSError):  # one may be a folder of the other
            plant(top, dict.fromkeys(names, b"x"))
        for name in walk_selects(top, defaults=False, ignores=False):
            assert name not in walk_selects(top, exclusion_rule(name), defaults=False, ignores=False)
