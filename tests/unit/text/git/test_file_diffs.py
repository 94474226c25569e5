import pytest

from marid.text.git_text import split_diff


def diff(name: str, body: str = "@@ -1 +1 @@\n-a\n+b\n") -> str:
    return f"diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{body}"


def test_a_diff_falls_into_its_files() -> None:
    whole = diff("a.txt") + diff("sub/b c.txt")
    assert [part.name for part in split_diff(whole.encode())] == ["a.txt", "sub/b c.txt"]
    assert b"".join(part.data for part in split_diff(whole.encode())) == whole.encode()


QUOTED = b'diff --git "a/tab\\there \\303\\274" "b/tab\\there \\303\\274"\nnew file mode 100644\n'
LIKE_HEADERS = "@@ -1,2 +1,2 @@\n-diff --git a/x b/x\n+* Unmerged path x\n diff --git a/y b/y\n"


@pytest.mark.parametrize(
    ("data", "names"),
    [
        pytest.param(diff("a", LIKE_HEADERS).encode(), ["a"], id="content like headers"),
        pytest.param(QUOTED, ["tab\there ü"], id="quoted by git"),
        pytest.param(diff("x b/x").encode(), ["x b/x"], id="name with the separator"),
        pytest.param(b"diff --git a/\xff b/\xff\n", ["\udcff"], id="not UTF-8"),
        pytest.param((diff("a") + "* Unmerged path c\n" + diff("b")).encode(), ["a", "c", "b"], id="unmerged"),
        pytest.param(b"", [], id="empty"),
    ],
)
def test_the_names_of_files_are_read(data: bytes, names: list[str]) -> None:
    assert [part.name for part in split_diff(data)] == names


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
