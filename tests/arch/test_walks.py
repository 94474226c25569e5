"""How far a call goes through the program, traced by scripts/walks.py. The bars may only fall."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# A prompt with one call of a tool; the goals are 100 modules, 70 edges and 10 upward edges.
BARS = {"modules": 144, "edges": 123, "upward": 26}
# Frames of ours from `main` to the verb of any command; the goal is 8.
MOST_FRAMES = 17


@pytest.fixture(scope="module")
def walks() -> dict[str, dict[str, Any]]:
    command = [sys.executable, str(ROOT / "scripts" / "walks.py"), "--json", "--all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)


def test_a_prompt_with_one_call_goes_through_few_modules(walks: dict[str, dict[str, Any]]) -> None:
    figures = walks["prompt"]["figures"]
    assert {name: figures[name] for name in BARS if figures[name] > BARS[name]} == {}


def test_every_command_reaches_its_verbs_in_few_steps(walks: dict[str, dict[str, Any]]) -> None:
    paths = [path for walk in walks.values() for path in walk["verbs"].values()]
    assert paths
    assert [path for path in paths if len(path) > MOST_FRAMES] == []
