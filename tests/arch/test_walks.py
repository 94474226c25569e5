"""How far a call goes through the program, traced by scripts/walks.py."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# A prompt with one call of a tool.
BARS = {"modules": 100, "edges": 70, "upward": 10}
# Frames of ours from `main` to the verb of any command.
MOST_FRAMES = 8


# What a process makes at most once, whatever the command.
ONCE = (
    "bootstrap.wiring:build_app",
    "bootstrap.settings.settings_resolver:resolve_settings",
    "adapters.store.conversations:FileConversations.__init__",
)


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


def test_every_command_builds_the_app_resolves_settings_and_makes_the_store_once(
    walks: dict[str, dict[str, Any]],
) -> None:
    counts = {name: [walk["calls"].get(what, 0) for what in ONCE] for name, walk in walks.items()}
    assert {name: found for name, found in counts.items() if max(found) > 1} == {}
    assert {name: found for name, found in counts.items() if found[0] != 1} == {}
    assert [max(found) for found in zip(*counts.values(), strict=True)] == [1, 1, 1]
