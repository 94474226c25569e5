import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.context_formats import paths
from fakes.git import FakeGit, FakeRepository
from fakes.secrets import GITHUB_TOKEN, PASSWORD, PRIVATE_KEY
from fakes.trees import plant
from marid.assembly.selection import Selection, make_selection_rules, resolve_targets, select_files
from marid.assembly.views import (
    FileRow,
    Statistics,
    Totals,
    compute_statistics,
    json_bytes,
    masked_diff,
    render_paths,
    render_tree,
    statistics_json,
    statistics_text,
)
from marid.core.context import FileSelection, OutputFormat
from marid.text.display import unquote_path
from marid.text.secrets.masker import Masker
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import Folder


def written(folders: list[Folder], *, null: bool = False, form: OutputFormat = OutputFormat.TEXT) -> bytes:
    return b"".join(piece for batch in render_paths(folders, null=null, form=form) for piece in batch)


def test_there_is_one_path_per_line_quoted_if_it_could_be_misread() -> None:
    assert written([Folder("", ["a", "b"]), Folder("src/x", ["c.py"])]) == b"a\nb\nsrc/x/c.py\n"
    assert written([]) == b""
    assert written([Folder("", ["a\nb", "é", "\udcff"]), Folder("x\ty", ["c"])]) == (
        b'"a\\nb"\n\xc3\xa9\n"\\377"\n"x\\ty/c"\n'
    )
    assert written([Folder("", ["!", '"b"'])]) == b'!\n"\\"b\\""\n'


def test_names_separated_by_nul_are_the_bytes_of_the_disk() -> None:
    assert written([Folder("", ["a\nb", '"c"', "\udcff"]), Folder("d", ["e"])], null=True) == b'a\nb\0"c"\0\xff\0d/e\0'


def test_json_is_a_list_of_quoted_paths_and_ends_with_a_newline() -> None:
    assert json.loads(written([Folder("", ["a\nb"]), Folder("d", ["é"])], form=OutputFormat.JSON)) == ['"a\\nb"', "d/é"]
    assert json_bytes(["é"]) == '[\n "é"\n]\n'.encode()


def test_a_long_list_comes_in_batches() -> None:
    folders = [Folder(str(n), ["a"]) for n in range(9000)]
    assert [len(batch) for batch in render_paths(folders, null=False, form=OutputFormat.TEXT)] == [4000, 4000, 1000]


@settings(deadline=None)
@given(st.lists(paths(), max_size=6))
def test_every_name_can_be_read_back(names: list[str]) -> None:
    folders = [Folder(path.rpartition("/")[0], [path.rpartition("/")[2]]) for path in names]
    lines = written(folders).decode().split("\n")[:-1]
    assert [unquote_path(line) for line in lines] == names
    raw = written(folders, null=True).split(b"\0")[:-1]
    assert [one.decode("utf-8", "surrogateescape") for one in raw] == names


def test_a_tree_has_files_before_folders_each_by_name() -> None:
    rows = [FileRow(path) for path in ("b/y.py", "z.py", "b/a/x.py", "a.py", "b/z.py", "c/d/e.py")]
    assert list(render_tree(rows, "/home/me/shop")) == [
        "shop/",
        "├── a.py",
        "├── z.py",
        "├── b/",
        "│   ├── y.py",
        "│   ├── z.py",
        "│   └── a/",
        "│       └── x.py",
        "└── c/",
        "    └── d/",
        "        └── e.py",
    ]


def test_tokens_stand_beside_the_files_where_they_are_known() -> None:
    assert list(render_tree([FileRow("a", 1, 1234), FileRow("b", 1)], "/p", mark="≈"))[1:] == [
        "├── a (≈1,234 tokens)",
        "└── b",
    ]


def test_a_tree_quotes_names_and_may_be_deeper_than_python_recurses() -> None:
    assert list(render_tree([FileRow("a\nb/c\td")], "/p\n")) == ['"p\\n"/', '└── "a\\nb"/', '    └── "c\\td"']
    assert list(render_tree([], "/")) == ["//"]
    assert len(list(render_tree([FileRow("/".join("d" * 3000))], "/p"))) == 3001


ROWS = [FileRow("a.py", 10, 3), FileRow("src/b.py", 2000, 500), FileRow("src/x/c.py", 30, 8)]


def test_statistics_add_up_and_list_the_ten_largest() -> None:
    assert compute_statistics(ROWS) == Statistics(
        Totals(3, 2040, 511), {"src": Totals(2, 2030, 508), "src/x": Totals(1, 30, 8)}, [ROWS[1], ROWS[2], ROWS[0]]
    )
    rows = [FileRow(f"{n}.py", n, n) for n in range(2000)]
    assert [row.size for row in compute_statistics(rows).largest] == list(range(1999, 1989, -1))


def test_statistics_for_a_person_are_a_table() -> None:
    assert list(statistics_text(compute_statistics(ROWS), encoding="o200k_base", mark="≈")) == [
        "3 files, 2.0 KB, ≈511 tokens (o200k_base)",
        "",
        "folder  files   bytes  tokens",
        "src/        2  2.0 KB    ≈508",
        "src/x/      1    30 B      ≈8",
        "",
        "largest files   bytes  tokens",
        "src/b.py       2.0 KB    ≈500",
        "src/x/c.py       30 B      ≈8",
        "a.py             10 B      ≈3",
    ]


def test_statistics_of_nothing_are_one_line_and_of_many_folders_forty() -> None:
    assert list(statistics_text(compute_statistics([]), encoding="x", mark="")) == ["0 files, 0 B, 0 tokens (x)"]
    lines = list(
        statistics_text(compute_statistics([FileRow(f"{n}/a", 1, 1) for n in range(50)]), encoding="x", mark="")
    )
    assert "and 10 more folders" in lines
    assert sum(line[0:1].isdigit() and "/ " in line for line in lines) == 40


def test_statistics_for_a_program_hold_everything() -> None:
    data = json.loads(statistics_json(compute_statistics(ROWS), encoding="o200k_base", exact=True))
    assert (data["files"], data["bytes"], data["tokens"]) == (3, 2040, 511)
    assert (data["encoding"], data["exact"]) == ("o200k_base", True)
    assert data["folders"][0] == {"path": "src", "files": 2, "bytes": 2030, "tokens": 508}
    assert data["largest"][0] == {"path": "src/b.py", "bytes": 2000, "tokens": 500}


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


def test_a_diff_of_selected_files_is_git_s_own_bytes_or_nothing(tmp_path: Path) -> None:
    diff = changed(tmp_path, {"a": "-1\n- 2\n--- 3\n", "b": "é\n"}, {"a": "", "b": "- é\n\\x0b\n"})
    assert masked_diff(diff, selection(tmp_path), unmasked) == (diff, 0)
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


def test_a_name_that_is_no_utf_8_is_judged_as_it_is(tmp_path: Path) -> None:
    plant(tmp_path, {"\udcff.py": ""})
    mode = part("a/~.py b/~.py", "new mode 100755").replace(b"~", b"\xff")
    assert masked_diff(mode, selection(tmp_path), unmasked)[0] == mode.replace(b"\xff", "\ufffd".encode())
    assert masked_diff(mode, selection(tmp_path, rules=("!\udcff.py",)), unmasked)[0] == b""


def test_what_git_quotes_that_is_no_utf_8_is_replaced(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": ""})
    diff = part("a/a.py b/a.py", "+").replace(b"+", b"+\xff")
    assert masked_diff(diff, selection(tmp_path), unmasked)[0].decode().endswith("+\ufffd\n")
