"""A home that Chibi made, of either generation, is used as it is."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fakes.program import Program, marid
from fakes.real_app import chat_requests
from fakes.trees import plant
from marid.testing import ModelServer, say

__all__ = ["marid"]

KEY = "sk-canary-0123456789"


def entry(id: str, sender: str, to: str, content: str, kind: str) -> str:
    fields = {"id": id, "timestamp": 1700000000, "from": sender, "to": to, "content": content, "entry_type": kind}
    return json.dumps(fields) + "\n"


def first_generation(url: str) -> Mapping[str, str]:
    """The four required keys, an address with the call itself, `context.json`."""
    messages = [{"role": "user", "content": "I am Ann"}, {"role": "assistant", "content": "Hello Ann", "id": "x"}]
    kept = {"name": "old", "messages": messages, "created_at": 1700000000, "updated_at": 1700000001}
    return {
        "config.toml": f'''# my own
api_key = "{KEY}"
model = "scripted-model"
context_window_limit = 128000
warn_threshold_percent = 75.0
base_url = "{url}/chat/completions"
auto_compact = false
auto_compact_threshold = 80.0
rolling_compact_drop_percentage = 50.0
max_recursion_depth = 15
lock_heartbeat_seconds = 30
something_of_theirs = 1

[api]
temperature = 0.5
''',
        "models.toml": '[models."scripted-model"]\ncontext_window = 64000\n\n[models."scripted-model".api]\nseed = 3\n',
        "prompts/chibi.md": "You are an old hand.\n",
        "prompts/reflection.md": "Ann likes brevity.\n",
        "contexts/old/context.json": json.dumps(kept),
        "contexts/old/local.toml": '# mine\nusername = "bob"\nauto_compact = true\nmystery = 1\n',
    }


def third_generation(url: str) -> Mapping[str, str]:
    """Partitions' folder, session, metadata, notes and a lock that holds bare seconds."""
    rows = (
        entry("1", "system", "old", "", "context_created")
        + entry("2", "user", "old", "[20260101-0000+0000] I am Ann", "message")
        + entry("3", "old", "user", "Hello Ann", "message")
    )
    return {
        "config.toml": f'''# my own
api_key = "{KEY}"
base_url = "{url}"
model = "scripted-model"
max_recursion_depth = 15
tool_output_cache_threshold = 4000
file_tools_allowed_paths = []
subagent_cost_tier = "free"

[url_policy]
default = "deny"

[vfs]
backend = "local"

[tools]
exclude_categories = ["vfs"]

[api]
temperature = 0.5
seed = 3
''',
        "cli.toml": "show_thinking = true\n\n[image]\nrender_images = true\n",
        "state.json": json.dumps({"contexts": [{"name": "old", "created_at": 1700000000}]}),
        "session.json": json.dumps({"implied_context": "old", "previous_context": None}),
        "prompts/reflection.md": "Ann likes brevity.\n",
        "contexts/old/context.jsonl": rows,
        "contexts/old/transcript/active.jsonl": rows,
        "contexts/old/context_meta.json": "{}",
        "contexts/old/system_prompt.md": "You are an old hand.\n",
        "contexts/old/todos.md": "- do it\n",
        "contexts/old/.lock": "1700000000",
        "contexts/old/local.toml": '# mine\nusername = "bob"\nmystery = 1\n\n[url_policy]\ndefault = "allow"\n',
    }


@pytest.mark.parametrize("generation", [first_generation, third_generation])
@pytest.mark.parametrize("named", ["CHIBI_HOME", "MARID_HOME"])
def test_a_home_of_chibi_goes_on_as_it_is(
    marid: Program, tmp_path: Path, generation: Callable[[str], Mapping[str, str]], named: str
) -> None:
    with ModelServer([say("You are Ann")]) as server:
        plant(tmp_path / "theirs", generation(server.openai))
        marid.set(**{"MARID_HOME": "", named: str(tmp_path / "theirs")})
        done = marid.apart("-C", "old", "who am I?")
        (asked,) = chat_requests(server)
    assert (done.code, done.text) == (0, "You are Ann\n")
    assert KEY not in done.err
    assert "not supported yet" in done.err
    assert "known keys" not in done.err
    body = json.loads(json.dumps(asked.body))
    said = [(one["role"], one["content"]) for one in body["messages"]][1:]
    assert [role for role, _ in said] == ["user", "assistant", "user"]
    expected = ("I am Ann", "Hello Ann", "who am I?")
    assert [words in text for (_, text), words in zip(said, expected, strict=True)] == [True] * 3
    for words in ("You are an old hand.", "Ann likes brevity.", "bob", "15"):
        assert words in asked.system
    assert (body["temperature"], body["seed"], asked.key) == (0.5, 3, KEY)


def test_changing_a_file_of_theirs_keeps_its_comments_and_keys(marid: Program, tmp_path: Path) -> None:
    plant(tmp_path / "theirs", third_generation("http://127.0.0.1:9/v1"))
    marid.set(MARID_HOME="", CHIBI_HOME=str(tmp_path / "theirs"))
    local = tmp_path / "theirs" / "contexts" / "old" / "local.toml"
    before = local.read_text()
    assert marid("-u", "carl").code == 0
    assert local.read_text() == before.replace("bob", "carl")
