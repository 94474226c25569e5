"""The repository itself: lock files without addresses, dependencies with reasons, nothing of the workplace."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_lock_files_hold_names_versions_and_hashes_but_no_addresses() -> None:
    for path in [*(ROOT / "requirements").glob("*.txt"), ROOT / "package-lock.json"]:
        text = path.read_text("utf-8")
        assert "://" not in re.sub(r'"(url|homepage|funding)":\s*"[^"]*"', "", text), path.name
        assert '"resolved"' not in text, path.name


def test_every_locked_package_has_a_hash() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        entries = re.split(r"\n(?=\S)", path.read_text("utf-8").strip())
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == [], path.name


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [re.split(r"[<>=;\[ ]", entry)[0] for entry in project["dependencies"]]
    reasons = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in reasons] == []


def test_the_changelog_speaks_in_fixed_first_words() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines
    assert [line for line in lines if not re.match(r"- (Added|Changed|Fixed|Removed) ", line)] == []


def test_ci_calls_make_test_and_nothing_else() -> None:
    lines = [line for line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in lines if line.strip()] == ["exec make test"]


def test_the_version_stands_in_the_changelog() -> None:
    from marid import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
