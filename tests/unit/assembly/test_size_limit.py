import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.context_formats import paths
from fakes.program import Program
from fakes.trees import plant, scratch, selected
from marid.assembly.selection import Selection, resolve_targets, select_files
from marid.assembly.size_limit import check_size, exclusion_rule
from marid.core.errors import Exhausted
from marid.workspace.walk import SelectionRules

KB = 1 << 10
MB = 1 << 20


def selection(top: Path) -> Selection:
    return select_files(resolve_targets([str(top)], "/"), SelectionRules(), lambda _: None)


def test_files_up_to_the_limit_are_welcome(tmp_path: Path) -> None:
    plant(tmp_path, {"a": b"x" * 600, "b": b"x" * 424})
    check_size(selection(tmp_path), KB)


def test_one_byte_more_is_too_much(tmp_path: Path) -> None:
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
@given(st.lists(paths().filter(lambda path: not {".", ".."} & set(path.split("/"))), min_size=1, max_size=3))
def test_a_rule_excludes_its_file(names: list[str]) -> None:
    with scratch() as top:
        with suppress(OSError):  # one may be a folder of the other
            plant(top, dict.fromkeys(names, b"x"))
        for name in selected(top, defaults=False, ignores=False):
            assert name not in selected(top, exclusion_rule(name), defaults=False, ignores=False)
