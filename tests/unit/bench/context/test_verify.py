import json
import random
from pathlib import Path

import pytest
from bench.context.planting import Draft, make
from bench.context.trees import BINARY, PRUNED, load, marker, names_file
from bench.context.verify import Finding, verify, verify_apart


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Two files, one of them with two names."""
    (tmp_path / "tree").mkdir()
    draft = Draft(name="big", root=str(tmp_path / "tree"), random=random.Random(1))
    size = draft.keep("one.py", 0, b"print('one')\n")
    draft.keep_link("again.py", "one.py", 0, size)
    draft.keep("two.md", 1, "zwei, ohne Zeilenende: é".encode())
    Path(names_file(draft.root)).write_text(json.dumps(draft.kept))
    return draft.root


def _text(root: str, *names: str) -> bytes:
    return b"\n====\n".join(Path(root, name).read_bytes() for name in names)


def _verified(root: str, data: bytes, form: str = "text") -> Finding:
    output = Path(f"{root}.out")
    output.write_bytes(data)
    return verify(form, root, str(output))


def test_an_output_with_every_file_once_is_right(root: str) -> None:
    found = _verified(root, _text(root, "one.py", "again.py", "two.md"))
    assert found == Finding(files=3, exact=3)
    assert found.right


def test_a_missing_an_altered_and_a_repeated_file_are_told(root: str) -> None:
    missing = _verified(root, _text(root, "one.py", "two.md"))
    assert missing.problems == ("missing: one.py (1 of 2 exact)",)
    altered = _verified(root, _text(root, "one.py", "again.py", "two.md").replace(b"zwei", b"drei"))
    assert altered.problems == ("altered: two.md (0 of 1 exact)",)
    repeated = _verified(root, _text(root, "one.py", "again.py", "two.md", "two.md"))
    assert repeated.problems == ("repeated: two.md (2 of 1 exact)",)


@pytest.mark.parametrize("form", ["text", "nothing-else"])
def test_text_of_an_excluded_or_binary_file_is_told(root: str, form: str) -> None:
    found = _verified(root, _text(root, "one.py", "again.py", "two.md") + PRUNED + BINARY, form)
    assert found.problems == ("the output holds the text of an excluded file", "the output holds a binary file")


def test_xml_and_json_are_compared_as_a_parser_reads_them(root: str) -> None:
    names = ("one.py", "again.py", "two.md")
    bodies = [Path(root, name).read_text() for name in names]
    as_json = json.dumps({"files": [{"content": body} for body in bodies]})
    assert _verified(root, as_json.encode(), "json") == Finding(files=3, exact=3)
    as_xml = "".join(f"<file><![CDATA[{body}]]></file>" for body in bodies)
    assert _verified(root, f"<context>{as_xml}</context>".encode(), "xml") == Finding(files=3, exact=3)
    trimmed = json.dumps({"files": [{"content": body.strip()} for body in bodies]})
    assert _verified(root, trimmed.encode(), "json").exact == 1


def test_a_list_may_hold_binaries_and_git_files_and_nothing_else(root: str) -> None:
    listed = b"./one.py\nagain.py\ntwo.md\n.gitignore\nblob_1.bin\n"
    assert _verified(root, listed, "list") == Finding(files=3, exact=3)
    wrong = _verified(root, b"one.py\nagain.py\nother.py\n", "list")
    assert wrong.problems == ("not listed: two.md", "listed, but excluded: other.py")


def test_many_problems_are_cut_short(root: str) -> None:
    found = _verified(root, b"".join(b"f%d\n" % number for number in range(9)), "list")
    assert len(found.problems) == 6
    assert found.problems[-1] == "and 7 more"


def test_another_process_finds_the_same_or_says_what_broke(root: str) -> None:
    output = Path(f"{root}.out")
    output.write_bytes(_text(root, "one.py", "again.py", "two.md"))
    assert verify_apart("text", root, str(output)) == Finding(files=3, exact=3)
    assert "cannot be read" in verify_apart("json", root, str(output)).problems[0]


def test_a_tree_is_made_once_and_known_afterwards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(str(tmp_path), "tiny")
    make(str(tmp_path), "tiny")
    assert capsys.readouterr().out.count("made tiny") == 1
    tree = load(str(tmp_path), "tiny")
    assert (tree.files, tree.size) == (3, 3 * tree.largest)
    assert Path(tree.root, "f2.py").read_bytes().startswith(marker("tiny", 2))
