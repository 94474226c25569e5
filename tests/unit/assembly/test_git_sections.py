from pathlib import Path

import pytest

from fakes.git import FakeGit, FakeRepository
from fakes.secrets import AWS_KEY, GITHUB_TOKEN, PASSWORD, PRIVATE_KEY
from fakes.trees import plant
from marid.assembly.git_sections import masked_diff, masked_log
from marid.assembly.selection import Selection, make_selection_rules, resolve_targets, select_files
from marid.core.context import FileSelection
from marid.text.secrets.masker import Masker
from marid.workspace.rules.ignore_files import UserGitFiles


def unmasked(data: bytes, _name: str) -> tuple[bytes, int]:
    return data, 0


def selection(top: Path, *targets: str, rules: tuple[str, ...] = ()) -> Selection:
    ruling = make_selection_rules(FileSelection(rules=rules), str(top), UserGitFiles())
    return select_files(resolve_targets(targets or ["."], str(top)), ruling, lambda _: None)


def changed(top: Path, before: dict[str, str], after: dict[str, str]) -> bytes:
    """The diff between two states of a folder, which is left in the second."""
    repository = FakeRepository()
    repository.commit("one", {name: text.encode() for name, text in before.items()})
    repository.files = {name: text.encode() for name, text in after.items()}
    plant(top, repository.files)
    return FakeGit(repositories={str(top): repository}).diff(str(top), None)


def part(names: str, *lines: str) -> bytes:
    return "".join(f"{line}\n" for line in (f"diff --git {names}", *lines)).encode()


def test_a_diff_of_selected_files_is_git_s_own_bytes(tmp_path: Path) -> None:
    diff = changed(tmp_path, {"a": "-1\n- 2\n--- 3\n", "b": "é\n"}, {"a": "", "b": "- é\n\\x0b\n"})
    assert masked_diff(diff, selection(tmp_path), unmasked) == (diff, 0)


def test_no_diff_is_nothing(tmp_path: Path) -> None:
    assert masked_diff(b"", selection(tmp_path), unmasked) == (b"", 0)


def test_what_the_rules_exclude_is_not_told_by_way_of_its_diff(tmp_path: Path) -> None:
    before = {"a.py": "1\n", ".env": "2\n", "gone.py": "3\n", "gone.log": "4\n", "x/uv.lock": "5\n", "x/y/z.py": "6\n"}
    diff = changed(tmp_path, before, {"a.py": "one\n", ".env": "two\n"})
    assert masked_diff(diff, selection(tmp_path, rules=("!x/y/",)), unmasked)[0] == (
        changed(tmp_path, {"a.py": "1\n"}, {"a.py": "one\n"}) + changed(tmp_path, {"gone.py": "3\n"}, {})
    )


def test_what_is_beside_the_targets_is_not_told_either(tmp_path: Path) -> None:
    plant(tmp_path, {"src/a.py": "", "build/b.py": "", "c.py": ""})
    gone = {"src/x.py": "1\n", "build/y.py": "2\n", "docs/z.py": "3\n", "build/sub/w.log": "4\n", "c.py": "5\n"}
    diff = changed(tmp_path, gone, {"c.py": "new\n"})
    text = masked_diff(diff, selection(tmp_path, "src", "build", "c.py"), unmasked)[0].decode()
    assert [line for line in text.split("\n") if line.startswith("diff")] == [
        f"diff --git a/{name} b/{name}" for name in ("build/y.py", "c.py", "src/x.py")
    ]


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("a b/c d.py", "a/a b/c d.py b/a b/c d.py"),
        ("new\nline.py", '"a/new\\nline.py" "b/new\\nline.py"'),
        ("é.py", '"a/\\303\\251.py" "b/\\303\\251.py"'),
        ("b/b.py", "a/b/b.py b/b/b.py"),
    ],
)
def test_a_file_is_known_by_its_name_however_git_writes_it(tmp_path: Path, name: str, names: str) -> None:
    plant(tmp_path, {name: ""})
    mode = part(names, "old mode 100644", "new mode 100755")
    assert masked_diff(mode, selection(tmp_path), unmasked)[0] == mode
    assert masked_diff(mode, selection(tmp_path, rules=("!*.py",)), unmasked)[0] == b""


@pytest.mark.parametrize("word", ["rename", "copy"])
def test_a_file_that_was_renamed_is_known_by_its_new_name(tmp_path: Path, word: str) -> None:
    plant(tmp_path, {"new\n.py": ""})
    moved = part('a/old.log "b/new\\n.py"', "similarity index 90%", f"{word} from old.log", f'{word} to "new\\n.py"')
    assert masked_diff(moved, selection(tmp_path), unmasked)[0] == moved
    assert masked_diff(moved, selection(tmp_path, rules=("!new*",)), unmasked)[0] == b""


def test_words_in_a_file_are_not_taken_for_a_header(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "", "b.log": ""})
    text = part(
        "a/a.py b/a.py", "--- a/a.py", "+++ b/a.py", "@@ -1 +1 @@", " rename to b.log", "-diff --git a/b.log b/b.log"
    )
    assert masked_diff(text, selection(tmp_path), unmasked)[0] == text


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.py", "", f"token = '{GITHUB_TOKEN}'\n"),
        ("a.py", f"token = '{GITHUB_TOKEN}'\n", ""),
        ("conf/app.yaml", "x: 1\n", f"x: 1\npassword: {PASSWORD}\n"),
        ("conf/app.yaml", f"password: {PASSWORD}\nx: 1\n", f"password: {PASSWORD}\nx: 2\n"),
        ("id", "", PRIVATE_KEY),
        ("id", PRIVATE_KEY, ""),
        ("id", PRIVATE_KEY.replace("a", "b"), PRIVATE_KEY),
    ],
)
def test_no_secret_leaves_in_a_diff(tmp_path: Path, name: str, before: str, after: str) -> None:
    files = {"a.txt": "-x\n", "z.txt": "z\n"}
    diff = changed(tmp_path, {**files, name: before}, {**files, name: after, "z.txt": "-z\n"})
    text, masked = masked_diff(diff, selection(tmp_path), Masker().mask)
    lines = [line for line in (before + after).split("\n") if len(line) > 10 and "PRIVATE" not in line]
    assert [secret for secret in (GITHUB_TOKEN, PASSWORD, *lines) if secret.encode() in text] == []
    assert masked >= 1
    assert text.endswith(b"\n-z\n+-z\n")


def test_no_secret_leaves_in_a_log() -> None:
    assert masked_log(f"    use {AWS_KEY}\n".encode(), Masker().mask) == (b"    use [masked:aws-access-key]\n", 1)


def test_a_name_that_is_no_utf_8_is_judged_as_it_is(tmp_path: Path) -> None:
    plant(tmp_path, {"\udcff.py": ""})
    mode = part("a/~.py b/~.py", "new mode 100755").replace(b"~", b"\xff")
    assert masked_diff(mode, selection(tmp_path), unmasked)[0] == mode.replace(b"\xff", "\ufffd".encode())
    assert masked_diff(mode, selection(tmp_path, rules=("!\udcff.py",)), unmasked)[0] == b""


def test_what_git_quotes_that_is_no_utf_8_is_replaced(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": ""})
    diff = part("a/a.py b/a.py", "+").replace(b"+", b"+\xff")
    assert masked_diff(diff, selection(tmp_path), unmasked)[0].decode().endswith("+\ufffd\n")
    assert masked_log(b"\xff", unmasked)[0].decode() == "\ufffd"
