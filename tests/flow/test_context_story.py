"""Project context as a person meets it, on real repositories and with the real parts."""

import json
import os
from pathlib import Path

import pytest

from fakes.context_formats import read_json, read_text
from fakes.program import Program, marid
from fakes.secrets import GITHUB_TOKEN, PASSWORD
from fakes.worktree import WHO, Worktree
from marid.text.tokens import make_counter

__all__ = ["marid"]

CODE = "def {name}():\n" + "".join(f"    value_{n} = {n} * 2\n" for n in range(60)) + "    return 1\n"


@pytest.fixture
def worktree(marid: Program) -> Worktree:
    """The project as a git repository with one commit."""
    tree = Worktree(path=marid.folder, env={"PATH": os.environ["PATH"], "HOME": str(marid.folder.parent)})
    tree.git("init", "--quiet", "--initial-branch=main")
    tree.commit("first", {"a.py": b"one\n", "src/b.py": b"two\n", ".gitignore": b"*.out\n"})
    return tree


def test_the_diff_stands_before_the_files(marid: Program, worktree: Worktree) -> None:
    worktree.write("a.py", b"changed\n")
    text = marid.context("--diff").text
    assert text.startswith("Git Diff: HEAD\nContent: ")
    assert "-one\n+changed\n" in text
    worktree.commit("second", {})
    assert "-one\n+changed\n" not in marid.context("--diff").text
    assert "-one\n+changed\n" in marid.context("--diff=HEAD~1").text
    assert marid.context("--diff=nonsense").code == 2


def test_the_diff_is_about_the_target_only(marid: Program, worktree: Worktree) -> None:
    worktree.write("a.py", b"changed\n")
    worktree.write("src/b.py", b"changed too\n")
    assert "changed\n" in marid.context("--diff").text
    text = marid.context("--diff", "src").text
    assert "+changed too\n" in text
    assert "a.py" not in text


def test_the_diff_is_about_selected_files_only(marid: Program, worktree: Worktree) -> None:
    worktree.commit("more", {".env": b"old\n", "d.py": b"going\n" * 9, "e.log": b"gone\n", "f g.py": b"1\n"})
    worktree.git("rm", "--quiet", "e.log")
    worktree.git("mv", "d.py", "moved é.py")
    worktree.write(".env", b"new\n")
    worktree.write("f g.py", b"2\n")
    worktree.remove("src/b.py")
    text = marid.context("--diff").text
    parts = [line for line in text.splitlines() if line.startswith("diff --git ")]
    assert parts == [
        "diff --git a/f g.py b/f g.py",
        "diff --git a/d.py b/moved é.py",
        "diff --git a/src/b.py b/src/b.py",
    ]


def test_the_diff_has_only_what_is_kept(marid: Program, worktree: Worktree) -> None:
    worktree.commit("more", {"c.md": b"text\n", "d.md": b"text\n"})
    worktree.write("c.md", b"other\n")
    worktree.remove("d.md")
    worktree.remove("src/b.py")
    text = marid.context("--diff", "--only", "*.md").text
    assert ("a/c.md" in text, "a/d.md" in text, "b.py" in text) == (True, True, False)
    marid.context("--only", "*.md", "--lock", "pack.lock", "-o", "pack.txt")
    worktree.write("a.py", b"changed\n")
    assert marid.context("diff", "pack.lock").lines == []


def test_the_last_commits_stand_before_the_files(marid: Program, worktree: Worktree) -> None:
    worktree.commit("second", {"c.py": b"three\n"})
    text = marid.context("--log", "1").text
    assert text.startswith("Git Log: last 1 commits\n")
    assert ("second" in text, "first" in text) == (True, False)
    assert "A\tc.py" in text


def test_only_what_changed_is_packed(marid: Program, worktree: Worktree) -> None:
    worktree.write("a.py", b"changed\n")
    worktree.write("new.py", b"new\n")
    worktree.write("x.out", b"ignored\n")
    assert marid.context("-l", "--changed-since", "HEAD").lines == ["a.py", "new.py"]
    assert marid.context("-l", "--changed-since", "gone").code == 2


def test_git_state_needs_a_repository(marid: Program) -> None:
    for option in ("--diff", "--log=3", "--changed-since=HEAD"):
        told = marid.context(option)
        assert (told.code, told.out) == (4, b"")


def test_no_secret_leaves_by_way_of_git(marid: Program, worktree: Worktree) -> None:
    worktree.commit("old", {"é\n.yaml": f"password: {PASSWORD}\n".encode(), "b.py": b"x\n"})
    worktree.write("é\n.yaml", b"password: none\n")
    worktree.write("b.py", f"T = '{GITHUB_TOKEN}'\n".encode())
    done = marid.context("--diff")
    assert (PASSWORD in done.text, GITHUB_TOKEN in done.text) == (False, False)
    assert "masked 3 secrets" in done.err


def test_a_repository_elsewhere_is_cloned_into_the_cache(marid: Program, worktree: Worktree, tmp_path: Path) -> None:
    worktree.git("clone", "--quiet", "--bare", ".", str(tmp_path / "host" / "owner" / "name.git"))
    place = tmp_path / "elsewhere"
    place.mkdir()
    os.chdir(place)
    url = f"file://{tmp_path}/host/owner/name.git"
    assert read_text(marid.context(url, "--branch", "main").out)[1:] == [("a.py", b"one\n"), ("src/b.py", b"two\n")]
    marid.set(MARID_CLONE_HOST=f"file://{tmp_path}/host/")
    assert marid.context("-l", "owner/name").lines == [".gitignore", "a.py", "src/b.py"]
    assert os.listdir(place) == []
    lock = tmp_path / "pack.lock"
    assert marid.context("owner/name", "--lock", str(lock), "-o", str(tmp_path / "pack.txt")).code == 0
    assert json.loads(lock.read_text())["request"]["targets"] == [url.removesuffix(".git")]
    assert marid.context("diff", str(lock)).out == b""
    assert marid.context("owner/other").code == 6
    assert marid.context("-l", url, "--branch", "gone").code == 4


def test_a_budget_prefers_what_changed_last(marid: Program, worktree: Worktree) -> None:
    worktree.commit("all", {f"{name}.py": CODE.replace("{name}", name).encode() for name in "cdefgh"})
    worktree.commit("g", {"g.py": CODE.replace("{name}", "g").encode() + b"# new\n"})
    done = marid.context("--budget", "1500")
    assert "def g():\n    value_0" in done.text
    assert "Level: outline\n" in done.text
    assert make_counter("o200k_base").count(done.out) <= 1500


def test_a_lock_records_everything_and_freezes_a_pack(marid: Program, worktree: Worktree) -> None:
    del worktree
    marid.write({"my.rules": "!my.rules\n", "empty": "", "n.py": "x = 1\n"})
    first = marid.context("--config", "my.rules", "--lock", "my.lock", "--level", "n.py=name", "--with-tree")
    data = json.loads((marid.folder / "my.lock").read_bytes())
    assert (data["marid_lock"], data["encoding"], list(data["sections"])) == (1, "o200k_base", ["tree"])
    assert data["request"]["config"] == "my.rules"
    rows = {row["path"]: row for row in data["files"]}
    assert list(rows) == [".gitignore", "a.py", "empty", "n.py", "src/b.py"]
    assert {key: value for key, value in rows["a.py"].items() if key != "sha256"} == {
        "path": "a.py",
        "level": "full",
        "reason": "because no rule matches it",
        "size": 4,
        "written": 4,
        "tokens": 2,
        "spans": [[1, 1]],
    }
    assert (rows["n.py"]["level"], rows["n.py"]["spans"], rows["empty"]["spans"]) == ("name", [], [])
    again = ("--config", "my.rules", "--lock", "my.lock", "--level", "n.py=name", "--with-tree", "--frozen")
    assert marid.context(*again) == first
    assert marid.context("diff", "my.lock").lines == []
    marid.write({"a.py": "oNe\n", "z.py": "new\n"})
    told = marid.context(*again)
    assert (told.code, told.out) == (3, b"")
    assert told.err == (
        "marid: the output would differ from my.lock:\n  ~ [tree] (content changed)\n"
        "  ~ a.py (2 -> 3 tokens)\n  + z.py (full, 2 tokens)\n"
    )
    assert marid.context("diff", "my.lock").lines == [line[2:] for line in told.err.splitlines()[1:]]


def test_many_differences_are_counted(marid: Program) -> None:
    marid.context("--lock", "my.lock")
    marid.write({f"{n:02}": "x" for n in range(15)})
    told = marid.context("--lock", "my.lock", "--frozen")
    assert told.err.splitlines()[-1] == "  and 5 more"


def test_a_frozen_run_tells_its_problems_once(marid: Program) -> None:
    marid.write({"a.py": "x\n"})
    (marid.folder / "link").symlink_to("a.py")
    marid.context("--lock", "my.lock")
    done = marid.context("--lock", "my.lock", "--frozen")
    assert done.err == "marid: 1 files, 2 B, 2 tokens; skipped 1 symbolic link\n"


def test_a_lock_with_a_budget_and_git_state_is_the_same_pack_later(marid: Program, worktree: Worktree) -> None:
    worktree.write("c.py", CODE.replace("{name}", "c").encode())
    worktree.write("a.py", b"changed\n")
    args = ("--lock", "my.lock", "-o", "out.txt", "--budget", "420", "--diff", "--log", "1", "--with-tree")
    assert marid.context(*args).code == 0
    assert marid.context(*args, "--frozen").code == 0
    assert marid.context("diff", "my.lock").lines == []
    worktree.commit("second", {})
    assert "~ [git_log] (content changed)" in marid.context("diff", "my.lock").lines


SHOP = """\
import os


class Shop:
    def open(self):
        return os.name

    def close(self):
        return 0
"""


def test_a_chosen_symbol_is_found_again_by_its_lock_after_a_rename_and_edits(marid: Program) -> None:
    marid.write({"shop.py": SHOP})
    marid.context("--lock", "my.lock", "--symbol", "shop.py::Shop.open=full")
    row = json.loads((marid.folder / "my.lock").read_bytes())["files"][0]
    assert (row["spans"], row["symbols"][0]["name"], row["symbols"][0]["show"]) == ([[5, 6]], "Shop.open", "full")
    marid.write({"shop.py": "# moved\n" + SHOP.replace("def open", "def unlock").replace("return 0", "return 1")})
    later = marid.context("--lock", "my.lock")
    assert read_text(later.out) == [("shop.py", b"    def unlock(self):\n        return os.name\n")]
    assert marid.context("--symbol", "shop.py::Shop.open=full").code == 4
    again = marid.context("--lock", "my.lock", "--symbol", "shop.py::Shop.open=signature", "-n")
    assert again.text.endswith("6:     def unlock(self):  ⋮ 6-7\n")


def test_estimated_counts_are_marked_and_no_base_for_a_lock(marid: Program, tmp_path: Path) -> None:
    marid.write({"a.py": "print()\n"})
    (tmp_path / "missing").mkdir()
    (tmp_path / "missing" / "splintr.py").write_text("raise ImportError\n")
    without = {"PYTHONPATH": str(tmp_path / "missing")}
    assert marid.apart("context", "--stats", environment=without).lines[0] == "1 files, 8 B, ≈2 tokens (bytes/4)"
    assert marid.apart("context", "--tree", "--tokens", environment=without).lines[-1] == "└── a.py (≈2 tokens)"
    assert marid.apart("context", "--lock", "my.lock", environment=without).code == 0
    told = marid.apart("context", "--lock", "my.lock", "--frozen", environment=without)
    assert (told.code, told.err) == (
        6,
        "marid: --frozen needs exact token counts, but the tokenizer is not installed\n",
    )
    refused = marid.context("diff", "my.lock")
    assert refused.code == 2
    assert "token counts are estimates" in refused.err


def test_encodings_and_sizes_are_told_as_read(marid: Program) -> None:
    marid.write({"cp.txt": "é€".encode("cp1252"), "wide.txt": "hé\n".encode("utf-16"), "bom.txt": b"\xef\xbb\xbfx\n"})
    found = json.loads(marid.context("-f", "json").out)["files"]
    assert [(one["path"], one["size"], one["written"], one["encoding"], one["content"]) for one in found] == [
        ("bom.txt", 5, 5, "utf-8", "\ufeffx\n"),
        ("cp.txt", 2, 5, "cp1252", "é€"),
        ("wide.txt", 8, 4, "utf-16", "hé\n"),
    ]
    assert [body for _, body in read_text(marid.context().out)] == [one["content"].encode() for one in found]


def test_what_was_listed_can_be_packed(marid: Program) -> None:
    marid.write({"a.py": "1", "new\nline": "2", '"q"': "3", "\udcff": "4", "src/b.py": "5"})
    for options in ([], ["-0"]):
        (marid.folder.parent / "list").write_bytes(marid.context("-l", *options).out)
        done = marid.context("--files-from", str(marid.folder.parent / "list"), "-f", "json", *options)
        assert dict(read_json(done.out)) == {
            "a.py": b"1",
            "new\nline": b"2",
            '"q"': b"3",
            "\udcff": b"4",
            "src/b.py": b"5",
        }


def test_nobody_s_git_configuration_is_needed(marid: Program, worktree: Worktree) -> None:
    assert not set(WHO) & set(os.environ)
    assert marid.context("--log", "1").code == 0
    assert worktree.git("status", "--porcelain") == b""


def test_a_path_is_explained_from_the_target_that_holds_it(marid: Program) -> None:
    marid.write({"build/x.py": "x\n", "build/y.log": "y\n", "src/a.py": "a\n", "other/b.py": "b\n"})
    asked = ("context", "build", "src", "--explain")
    assert marid(*asked, "build/x.py").text == "build/x.py: included because no rule matches it\n"
    assert marid(*asked, "build/y.log").text == "build/y.log: excluded by the built-in default '*.log'\n"
    assert marid(*asked, "other/b.py").text == "other/b.py: excluded because it is not below a target\n"


def test_a_text_file_too_large_to_read_counts_against_the_limit(marid: Program) -> None:
    marid.write({"a.txt": "a\n"})
    with Path("huge.txt").open("wb") as file:
        file.write(b"text\n" * 4000)
        file.truncate(2 << 30)
    for where in ((), ("-o", "out.md")):
        told = marid.context(*where)
        assert told.code == 5
        assert "Total content size exceeds limit of 100MB" in told.err
    assert not Path("out.md").exists()
