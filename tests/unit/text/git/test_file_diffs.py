import pytest

from marid.text.git.file_diffs import split_diff


def diff(name: str, body: str = "@@ -1 +1 @@\n-a\n+b\n") -> str:
    return f"diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{body}"


def test_a_diff_falls_into_its_files() -> None:
    whole = diff("a.txt") + diff("sub/b c.txt")
    assert [part.name for part in split_diff(whole.encode())] == ["a.txt", "sub/b c.txt"]
    assert b"".join(part.data for part in split_diff(whole.encode())) == whole.encode()


def test_content_that_looks_like_a_header_is_content() -> None:
    body = "@@ -1,2 +1,2 @@\n-diff --git a/x b/x\n+* Unmerged path x\n diff --git a/y b/y\n"
    assert [part.name for part in split_diff(diff("a", body).encode())] == ["a"]


def test_names_that_git_quotes_are_read() -> None:
    quoted = b'diff --git "a/tab\\there \\303\\274" "b/tab\\there \\303\\274"\nnew file mode 100644\n'
    assert [part.name for part in split_diff(quoted)] == ["tab\there ü"]


def test_names_that_hold_the_separator_are_read() -> None:
    assert [part.name for part in split_diff(diff("x b/x").encode())] == ["x b/x"]


def test_a_name_that_is_no_utf_8_is_kept() -> None:
    assert split_diff(b"diff --git a/\xff b/\xff\n")[0].name == "\udcff"


def test_an_unmerged_path_is_a_part_of_its_own() -> None:
    whole = diff("a") + "* Unmerged path secret\n" + diff("b")
    assert [part.name for part in split_diff(whole.encode())] == ["a", "secret", "b"]


def test_no_diff_has_no_parts() -> None:
    assert split_diff(b"") == []


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        (b"index aaa..bbb 100644\n", {3: b" same", 4: b"@@ -1 +1 @@", 9: b"last"}),
        (b"old mode 100644\nnew mode 100755\nindex aaa..bbb\n", {3: b" same", 4: b"@@ -1 +1 @@", 9: b"last"}),
        (b"new file mode 120000\nindex 000..bbb\n", {}),
        (b"index aaa..bbb 160000\n", {}),
        (b"deleted file mode 100644\nindex aaa..000\n", {}),
    ],
)
def test_the_lines_of_the_new_file_that_are_shown_are_known(head: bytes, lines: dict[int, bytes]) -> None:
    hunks = b"@@ -3,2 +3,2 @@ def f\n  same\n-old\n+@@ -1 +1 @@\n@@ -9 +9 @@\n-x\n+last\n\\ No newline at end of file\n"
    (part,) = split_diff(b"diff --git a/x b/x\n" + head + b"--- a/x\n+++ b/x\n" + hunks)
    assert dict(part.new_lines()) == lines
