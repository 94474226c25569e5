from hypothesis import given
from hypothesis import strategies as st

from marid.text.edit.line_diff import DiffBlock, diff_blocks, unified_diff

lines = st.lists(st.sampled_from(["a", "b", "c", "", " x"]), max_size=12)


def _diff(before: bytes | None, after: bytes) -> list[str]:
    return list(unified_diff(before, after, "f.py"))


def test_a_changed_line_is_shown_between_its_neighbours() -> None:
    assert _diff(b"1\n2\n3\n4\n5\n", b"1\n2\n3x\n4\n5\n") == [
        "--- f.py",
        "+++ f.py",
        "@@ -1,5 +1,5 @@",
        " 1",
        " 2",
        "-3",
        "+3x",
        " 4",
        " 5",
    ]


def test_changes_far_apart_are_in_separate_hunks() -> None:
    old = [f"{number}\n" for number in range(30)]
    new = ["zero\n", *old[1:-1], "last\n"]
    shown = _diff("".join(old).encode(), "".join(new).encode())
    assert [line for line in shown if line.startswith("@@")] == ["@@ -1,4 +1,4 @@", "@@ -27,4 +27,4 @@"]


def test_a_new_file_and_an_emptied_file_are_shown() -> None:
    assert _diff(None, b"x\ny\n") == ["--- (new file)", "+++ f.py", "@@ -0,0 +1,2 @@", "+x", "+y"]
    assert _diff(None, b"") == ["--- (new file)", "+++ f.py"]
    assert _diff(b"x\n", b"") == ["--- f.py", "+++ f.py", "@@ -1 +0,0 @@", "-x"]


def test_odd_line_ends_and_bytes_are_shown() -> None:
    assert _diff(b"x", b"x\n")[2:] == ["@@ -1 +1 @@", "-x", "\\ No newline at end of file", "+x"]
    assert _diff(b"a\r\n", b"a\n")[3:] == ["-a\r", "+a"]
    assert _diff(b"", "a\u2028b\n".encode())[3:] == ["+a\u2028b"]
    assert _diff(b"caf\xe9\n", b"caf\xc3\xa9\n")[3:] == ["-caf\\xe9", "+café"]


def test_a_binary_file_is_named_by_size_and_hash() -> None:
    shown = _diff(b"\0", b"\0\0")
    assert shown[2].startswith("-binary, 1 bytes, sha256 6e340b9cffb37a98")
    assert shown[3].startswith("+binary, 2 bytes, sha256 ")
    assert len(_diff(None, b"\0")) == 3


@given(lines, lines)
def test_applying_the_blocks_gives_the_new_lines(old: list[str], new: list[str]) -> None:
    made: list[str] = []
    at = 0
    for block in diff_blocks(old, new):
        assert at <= block.a1
        made += [*old[at : block.a1], *new[block.b1 : block.b2]]
        assert len(made) == block.b2
        at = block.a2
    assert [*made, *old[at:]] == new


@given(lines, lines)
def test_what_is_shown_holds_every_added_and_every_removed_line(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    shown = _diff(before.encode(), after.encode())[2:]
    left = [line[1:] for line in shown if line[0] in " -"]
    made = [line[1:] for line in shown if line[0] in " +"]
    assert len(made) - len(left) == len(new) - len(old)
    if len(old) <= 3 and shown:
        assert left == old
        assert made == new


def test_the_shortest_way_is_found() -> None:
    assert diff_blocks(list("abcabba"), list("cbabac")) != [DiffBlock(0, 7, 0, 6)]
    changed = sum(b.a2 - b.a1 + b.b2 - b.b1 for b in diff_blocks(list("abcabba"), list("cbabac")))
    assert changed == 5


def test_a_rewrite_is_shown_as_one_block_and_in_bearable_time() -> None:
    old = [f"{number % 7}" for number in range(20_000)]
    new = [f"{number % 5}" for number in range(20_000)]
    assert diff_blocks([*old, "end"], [*new, "end"]) == [DiffBlock(5, 20_000, 5, 20_000)]
