from pathlib import Path

from marid.toolkit.path_resolver import PathResolver
from marid.workspace.guard.api import PathScope


def test_a_territory_is_ground(tmp_path: Path) -> None:
    ground: PathResolver = PathScope([str(tmp_path)])
    assert ground.resolve(".beads/issues.jsonl", write=True).name == ".beads/issues.jsonl"
