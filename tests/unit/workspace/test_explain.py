import os
from pathlib import Path

import pytest

from fakes.trees import plant, plant_names, selected, walker
from marid.core.errors import BadInput, NotFound
from marid.workspace.explain import explain


def why(top: Path, path: str, *inline: str) -> str:
    return str(explain(walker(top, *inline), path))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    plant_names(
        tmp_path, "a.py", "b.log", "docs/old/x.md", "src/a.py", "build/x/y.py", "out/keep/f", "out/g", "sub/t.txt"
    )
    plant(
        tmp_path,
        {
            ".contextfiles": "# rules\n!docs/\n",
            "sub/.contextfiles": "\nt.txt\n",
            ".gitignore": "out/*\n!out/keep/\n!out/\n",
        },
    )
    return tmp_path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a.py", "a.py: included because no rule matches it"),
        ("src", "src: included because no rule matches it"),
        ("b.log", "b.log: excluded by the built-in default '*.log'"),
        ("build", "build: excluded by the built-in default 'build/'"),
        ("build/x/y.py", "build/x/y.py: excluded by the built-in default 'build/' (on 'build')"),
        ("docs", "docs: excluded by '!docs/', .contextfiles:2"),
        ("docs/old/x.md", "docs/old/x.md: excluded by '!docs/', .contextfiles:2 (on 'docs')"),
        ("sub/t.txt", "sub/t.txt: included by 't.txt', sub/.contextfiles:2"),
        ("out", "out: included by '!out/', .gitignore:3"),
        ("out/g", "out/g: excluded by 'out/*', .gitignore:1"),
        ("out/keep", "out/keep: included by '!out/keep/', .gitignore:2"),
        ("out/keep/f", "out/keep/f: included because no rule matches it"),
    ],
)
def test_the_rule_its_file_and_its_line_are_named(path: str, reason: str, tree: Path) -> None:
    assert why(tree, path) == reason


def test_a_rule_of_the_command_line_is_named_by_its_number(tree: Path) -> None:
    assert why(tree, "build/x/y.py", "!a", "*.py") == "build/x/y.py: included by '*.py', --rule:2"
    assert why(tree, "build/x", "build/x/") == "build/x: included by 'build/x/', --rule:1"
    assert why(tree, "build/x/y.py", "build/x/") == "build/x/y.py: included by 'build/x/', --rule:1 (on 'build/x')"


def test_what_is_explained_is_what_is_selected(tree: Path) -> None:
    every = {os.path.relpath(os.path.join(at, name), tree) for at, _, names in os.walk(tree) for name in names}
    for inline in ((), ("*.py", "!src/"), ("docs/old/", "!b*", "b.log")):
        chosen = {path for path in every if explain(walker(tree, *inline), path).include}
        assert chosen == set(selected(tree, *inline))


def test_what_is_not_there_is_not_explained(tree: Path) -> None:
    for path in ("nothing", "build/nothing", "a.py/below"):
        with pytest.raises(NotFound, match=path):
            why(tree, path)


def test_links_and_special_files_are_never_read(tree: Path) -> None:
    (tree / "link").symlink_to("src")
    os.mkfifo(tree / "fifo")
    for path, words in (("link", "not followed"), ("link/a.py", "not followed"), ("fifo", "not a regular file")):
        with pytest.raises(BadInput, match=words):
            why(tree, path)


def test_names_and_rules_cannot_forge_a_line(tmp_path: Path) -> None:
    plant(tmp_path, {"x\ny/.gitignore": "\x1b[31m*\n*b*", "x\ny/a\nb": ""})
    assert why(tmp_path, "x\ny/a\nb") == r""""x\ny/a\nb": excluded by '*b*', "x\ny/.gitignore":2"""
    plant(tmp_path, {"x\ny/.gitignore": "a\x1b*\n", "x\ny/a\x1b": ""})
    assert why(tmp_path, "x\ny/a\x1b") == r""""x\ny/a\033": excluded by 'a\x1b*', "x\ny/.gitignore":1"""
