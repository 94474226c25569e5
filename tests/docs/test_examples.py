"""Every example in the docs is run, and every generated part is fresh."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _sessions() -> list[tuple[str, str]]:
    return [
        (f"{page.name}-{number}", block)
        for page in PAGES
        for number, block in enumerate(CONSOLE.findall(page.read_text("utf-8")), 1)
    ]


def _steps(block: str) -> list[tuple[str, str]]:
    """Each command with what the page says it prints."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("name", "block"), _sessions(), ids=[name for name, _ in _sessions()])
def test_an_example_prints_what_the_page_says(name: str, block: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "MARID_HOME": str(tmp_path / "home"),
        "LC_ALL": "C.UTF-8",
    }
    for command, printed in _steps(block):
        done = subprocess.run(["sh", "-c", command], cwd=project, env=environment, capture_output=True, check=False)
        assert done.stdout.decode() == printed, (name, command, done.stderr.decode())


def test_there_are_examples() -> None:
    assert len(_sessions()) >= 8


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_are_valid(page: Path) -> None:
    for block in PYTHON.findall(page.read_text("utf-8")):
        compile(block, page.name, "exec")


def test_generated_parts_are_fresh() -> None:
    cog = [sys.executable, "-m", "cogapp", "--check", "-I", "scripts", *map(str, PAGES)]
    done = subprocess.run(cog, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout}{done.stderr}"


def test_every_promise_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    named = re.findall(r"`(tests/[^`]+)`", page)
    assert len(named) >= 20
    assert [name for name in named if not (ROOT / name).exists()] == []
    rows = [line for line in page.split("\n") if line.startswith("| ") and "tested in |" not in line]
    assert [row for row in rows if "`tests/" not in row and not row.endswith("| the same |")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_inside_the_docs_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert broken == []
