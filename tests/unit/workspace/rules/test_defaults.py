from pathlib import Path

import pytest

from fakes.trees import plant_names, selected
from marid.workspace.rules.defaults import DEFAULT_RULES, default_gitignore
from marid.workspace.rules.parse import parse_gitignore

FOLDERS = """.git .hg .svn .bzr __pycache__ node_modules venv env .venv .env .tox .nox .mypy_cache .pytest_cache
.ruff_cache build dist target out bin obj .idea .vscode logs output coverage x.egg-info"""
FILES = """a.log a.log.1 a.bak a.tmp a.temp .a.swp a~ a.pyc .env .env.local .DS_Store uv.lock go.sum .contextfiles"""


@pytest.mark.parametrize("folder", FOLDERS.split())
def test_a_folder_of_the_list_is_left_out_at_any_depth(folder: str, tmp_path: Path) -> None:
    plant_names(tmp_path, f"{folder}/a.py", f"deep/{folder}/b/c.py", "kept.py")
    assert selected(tmp_path) == ["kept.py"]


def test_a_file_of_the_list_is_left_out_at_any_depth(tmp_path: Path) -> None:
    plant_names(tmp_path, *FILES.split(), *(f"deep/{name}" for name in FILES.split()))
    assert selected(tmp_path) == []


def test_other_hidden_files_and_the_example_of_an_environment_are_in(tmp_path: Path) -> None:
    plant_names(
        tmp_path, ".env.example", ".github/workflows/ci.yml", ".gitignore", ".hidden", "logs.py", "build.gradle"
    )
    assert selected(tmp_path) == [
        ".env.example",
        ".gitignore",
        ".hidden",
        "build.gradle",
        "logs.py",
        ".github/workflows/ci.yml",
    ]


def test_a_file_with_the_name_of_a_folder_of_the_list_is_in(tmp_path: Path) -> None:
    plant_names(tmp_path, "build", "env", "out", "target")
    assert selected(tmp_path) == ["build", "env", "out", "target"]


def test_without_defaults_everything_is_in(tmp_path: Path) -> None:
    plant_names(tmp_path, "build/a.py", "a.log", ".contextfiles")
    assert selected(tmp_path, defaults=False) == [".contextfiles", "a.log", "build/a.py"]


def test_every_pattern_is_a_rule_and_every_group_says_why() -> None:
    patterns = [pattern for group in DEFAULT_RULES for pattern in group.patterns]
    assert len(parse_gitignore(default_gitignore())) == len(patterns) == len(set(patterns))
    assert all(group.reason for group in DEFAULT_RULES)
