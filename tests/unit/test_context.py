import json
from pathlib import Path

import pytest

from fakes.context_formats import read_text
from fakes.secrets import GITHUB_TOKEN
from fakes.trees import plant
from marid import context
from marid.core.errors import BadInput, Exhausted, NotFound


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MARID_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("JINNI_MAX_SIZE_MB", raising=False)
    plant(
        tmp_path, {"p/a.py": "x = 1\n", "p/src/b.md": "# y\n", "p/c.log": "z\n", "p/.gitignore": "d.py\n", "p/d.py": ""}
    )
    return tmp_path / "p"


def files(text: str) -> list[str]:
    return [path for path, _ in read_text(text.encode())]


def test_a_folder_is_assembled_into_one_text(project: Path) -> None:
    assert files(context.assemble(project)) == [".gitignore", "a.py", "src/b.md"]
    assert context.assemble(str(project)) == context.assemble(project)


def test_without_a_path_it_is_the_current_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert context.assemble() == context.assemble(project)


def test_rules_are_those_of_the_command_line(project: Path) -> None:
    assert files(context.assemble(project, rules=["!.gitignore", "!*.md", "c.log"])) == ["a.py", "c.log"]


def test_only_the_paths_can_be_had(project: Path) -> None:
    assert context.assemble(project, list_only=True) == ".gitignore\na.py\nsrc/b.md\n"


def test_every_option_counts(project: Path) -> None:
    (project.parent / "rules").write_text("!*.md\n")
    named = context.assemble(project, list_only=True, config=project.parent / "rules", gitignore=False, defaults=False)
    assert named == ".gitignore\na.py\nc.log\nd.py\n"
    assert files(context.assemble(project, targets=["src"])) == ["src/b.md"]
    assert "1: x = 1\n" in context.assemble(project, line_numbers=True)
    assert context.assemble(project, with_tree=True).startswith("Tree\n")
    assert json.loads(context.assemble(project, format="json"))["files"][0]["path"] == ".gitignore"
    with pytest.raises(Exhausted):
        context.assemble(project, budget=3)
    with pytest.raises(Exhausted):
        context.assemble(project, max_size_mb=0.000001)


def test_secrets_are_masked_unless_asked_otherwise(project: Path) -> None:
    plant(project, {"e.py": GITHUB_TOKEN})
    assert GITHUB_TOKEN not in context.assemble(project)
    assert GITHUB_TOKEN in context.assemble(project, mask=False)


def test_names_that_are_no_utf_8_survive(project: Path) -> None:
    plant(project, {"\udcff": "x"})
    assert '"\\377"\n' in context.assemble(project, list_only=True)


def test_large_output_can_be_had_in_pieces(project: Path) -> None:
    assert b"".join(context.stream(project)).decode() == context.assemble(project)


def test_what_is_wrong_is_told(project: Path) -> None:
    with pytest.raises(NotFound, match="not found"):
        context.assemble(project / "gone")
    with pytest.raises(BadInput, match="'yaml' is not a format: use text, markdown, xml, json"):
        context.assemble(project, format="yaml")
    with pytest.raises(BadInput, match="above 0"):
        context.assemble(project, max_size_mb=-1)
    with pytest.raises(TypeError, match="unknown option: colour, size"):
        context.assemble(project, size=1, colour=2)


def test_why_a_file_is_in_or_out_is_told(project: Path) -> None:
    assert context.explain("c.log", root=project) == "c.log: excluded by the built-in default '*.log'"
    assert context.explain("c.log", root=project, rules=["c.log"]) == "c.log: included by 'c.log', --rule:1"
