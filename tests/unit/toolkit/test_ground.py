from pathlib import Path

from marid.toolkit.ground import Ground
from marid.workspace.guard import Territory


def test_a_territory_is_ground(tmp_path: Path) -> None:
    ground: Ground = Territory([str(tmp_path)])
    assert ground.place(".beads/issues.jsonl", write=True).name == ".beads/issues.jsonl"
