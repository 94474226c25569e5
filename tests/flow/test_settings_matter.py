"""Every setting that concerns what exists changes what the program does: one test for each key, through config.toml and
a real server."""

import json
import os
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from fakes.program import Program, marid
from fakes.real_app import RoundRecorder, chat_requests, real_scope, run_prompt, stored_entries
from fakes.terminal import TerminalSession
from marid.app.app import RequestScope
from marid.core.errors import Exhausted
from marid.core.round_events import FuelExhausted, RoundEnd, ToolEnded, WindowWarning
from marid.core.settings.schema import SETTINGS
from marid.testing import Gate, ModelServer, Request, Script, ScriptedModel, Stall, Step, call, say

__all__ = ["marid"]

KEY = "sk-canary-0123456789"


@dataclass(frozen=True, kw_only=True)
class Talked:
    """What came of one prompt: what the server was asked, what was heard, and how it ended."""

    scope: RequestScope
    asked: tuple[Request, ...]
    heard: RoundRecorder
    end: RoundEnd

    @property
    def body(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.asked[0].body)


def talked(
    place: Path, config: str = "", steps: Iterable[Step] = (), models: str = "", *, dialect: str = "openai"
) -> Talked:
    """One round with the settings of `config`, whose tables come last."""
    script = Script(
        steps=tuple(steps) or (say("fine"),), models=(ScriptedModel(id="scripted-model"), ScriptedModel(id="other"))
    )
    with ModelServer(script) as server:
        scope = at(place, server, config, models, dialect=dialect)
        heard = RoundRecorder()
        end = run_prompt(scope, "hello", heard)
        asked = tuple(chat_requests(server))
    return Talked(scope=scope, asked=asked, heard=heard, end=end)


def at(
    place: Path, server: ModelServer, config: str = "", models: str = "", *, dialect: str = "openai"
) -> RequestScope:
    """The program with a home that leads to the server."""
    urls = {"openai": server.openai, "anthropic": server.anthropic, "google": server.google}
    provider = f'provider = "{dialect}"\n' if dialect else ""
    who = f'{provider}base_url = "{urls.get(dialect, server.openai)}"\napi_key = "{KEY}"\n'
    named = "" if "model =" in config.partition("[")[0] else 'model = "scripted-model"\n'
    home = place / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"{who}{named}{config}\n")
    if models:
        (home / "models.toml").write_text(models)
    return real_scope(place)


def test_context_window_limit_bounds_a_request(tmp_path: Path) -> None:
    with pytest.raises(Exhausted, match="context_window_limit is 5"):
        talked(tmp_path, "context_window_limit = 5")


def test_warn_threshold_percent_says_when_a_window_is_nearly_full(tmp_path: Path) -> None:
    early = talked(tmp_path, "context_window_limit = 100\nwarn_threshold_percent = 5")
    late = talked(tmp_path, "context_window_limit = 100\nwarn_threshold_percent = 99")
    assert (len(early.heard.of(WindowWarning)), late.heard.of(WindowWarning)) == (1, [])


def test_no_tool_calls_offers_no_tools(tmp_path: Path) -> None:
    assert "get_tree" in talked(tmp_path).asked[0].tools
    assert talked(tmp_path, "no_tool_calls = true").asked[0].tools == ()


def test_reflection_enabled_offers_the_tool_and_tells_what_is_kept(tmp_path: Path) -> None:
    keeps = say(calls=[call("update_reflection", {"content": "Ann likes brevity"})])
    first = talked(tmp_path, "", [keeps, say("kept")])
    assert "update_reflection" in first.asked[0].tools
    assert "Ann likes brevity" in talked(tmp_path).asked[0].system
    off = talked(tmp_path, "reflection_enabled = false").asked[0]
    assert "update_reflection" not in off.tools
    assert "Ann likes brevity" not in off.system


def test_reflection_character_limit_bounds_what_is_kept(tmp_path: Path) -> None:
    keeps = say(calls=[call("update_reflection", {"content": "Ann likes brevity"})])
    done = talked(tmp_path, "reflection_character_limit = 10", [keeps, say("no")])
    (result,) = done.heard.of(ToolEnded)
    assert result.failed
    assert "10" in result.result


@pytest.mark.parametrize("key", ["fuel", "max_recursion_depth"])
def test_fuel_bounds_the_requests_of_a_round(tmp_path: Path, key: str) -> None:
    steps = [say(calls=[call("get_tree", {"path": "."})])] * 3
    done = talked(tmp_path, f"{key} = 2", steps)
    assert (len(done.asked), len(done.heard.of(FuelExhausted))) == (2, 1)


def test_fuel_empty_response_cost_is_what_an_empty_reply_costs(tmp_path: Path) -> None:
    cheap = talked(tmp_path, "fuel = 4\nfuel_empty_response_cost = 1", [say(), say(), say("at last")])
    dear = talked(tmp_path, "fuel = 4\nfuel_empty_response_cost = 4", [say(), say("never")])
    assert (len(cheap.asked), len(dear.asked)) == (3, 1)


def test_username_is_who_has_said_it(tmp_path: Path) -> None:
    done = talked(tmp_path, 'username = "ada"')
    assert "ada" in done.asked[0].system
    assert stored_entries(done.scope)[0].sender == "ada"


def test_lock_heartbeat_seconds_is_how_often_the_holder_says_that_it_is_there(tmp_path: Path) -> None:
    gate = Gate()
    with ModelServer([say("fine", faults=[Stall(gate=gate)])]) as server:
        scope = at(tmp_path, server, "lock_heartbeat_seconds = 0.05")
        lock = tmp_path / "home" / "contexts" / "c" / ".lock"

        def watch() -> None:
            assert gate.wait(20)
            seen: set[str] = set()
            while len(seen) < 3:
                seen.add(lock.read_text())
            gate.release()

        async def main() -> None:
            with anyio.fail_after(30):
                async with anyio.create_task_group() as group:
                    group.start_soon(anyio.to_thread.run_sync, watch)
                    await anyio.to_thread.run_sync(lambda: run_prompt(scope, "hello"))

        anyio.run(main)


@pytest.mark.parametrize("key", ["files", "file_tools_allowed_paths", "roots"])
def test_paths_outside_of_the_project_are_for_tools_where_a_setting_says_so(tmp_path: Path, key: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("the word is swordfish")
    reads = say(calls=[call("read_file", {"path": str(tmp_path / "elsewhere" / "a.txt")})])
    closed = talked(tmp_path, "", [reads, say("no")])
    opened = talked(tmp_path, f'{key} = ["{tmp_path}/elsewhere"]', [reads, say("yes")])
    assert "swordfish" not in closed.asked[1].results[0].text
    assert "swordfish" in opened.asked[1].results[0].text


def test_outside_and_policy_say_what_becomes_of_a_call(tmp_path: Path) -> None:
    writes = say(calls=[call("write_file", {"path": "a.txt", "content": "x"})])
    refused = talked(tmp_path, "", [writes, say("no")])
    allowed = talked(tmp_path, '[policy]\nwrite = "allow"', [writes, say("yes")])
    assert (refused.heard.of(ToolEnded)[0].failed, allowed.heard.of(ToolEnded)[0].failed) == (True, False)
    assert (tmp_path / "project" / "a.txt").read_text() == "x"


def test_fallback_tool_says_who_has_the_word_after_an_answer(tmp_path: Path) -> None:
    assert len(talked(tmp_path, 'fallback_tool = "call_user"', [say("a"), say("b")]).asked) == 1
    ends = say(calls=[call("call_user", {"message": "your turn"})])
    assert len(talked(tmp_path, 'fallback_tool = "call_agent"', [say("a"), ends]).asked) == 2


def test_tools_include_offers_only_these(tmp_path: Path) -> None:
    assert talked(tmp_path, '[tools]\ninclude = ["get_tree"]').asked[0].tools == ("get_tree",)


def test_tools_exclude_offers_all_but_these(tmp_path: Path) -> None:
    tools = talked(tmp_path, '[tools]\nexclude = ["get_tree"]').asked[0].tools
    assert "get_tree" not in tools
    assert "read_file" in tools


def test_tools_exclude_categories_offers_none_of_a_family(tmp_path: Path) -> None:
    tools = talked(tmp_path, '[tools]\nexclude_categories = ["shell"]').asked[0].tools
    assert not {"run_shell", "shell_exec"} & set(tools)
    assert "read_file" in tools


def partitions(place: Path, ending: str = "jsonl") -> list[Path]:
    return sorted((place / "home" / "contexts" / "c" / "transcript" / "partitions").glob(f"*.{ending}"))


@pytest.mark.parametrize(
    "storage",
    ["partition_max_entries = 2", "partition_max_tokens = 20", "partition_max_tokens = 60\nbytes_per_token = 1"],
)
def test_storage_says_when_a_new_partition_begins(tmp_path: Path, storage: str) -> None:
    talked(tmp_path)
    assert partitions(tmp_path) == []
    talked(tmp_path, f"[storage]\n{storage}")
    assert partitions(tmp_path)


def test_storage_bytes_per_token_makes_the_same_text_count_for_less(tmp_path: Path) -> None:
    talked(tmp_path, "[storage]\npartition_max_tokens = 60\nbytes_per_token = 1000")
    assert partitions(tmp_path) == []


def test_storage_partition_max_age_seconds_ends_a_partition_by_its_age(tmp_path: Path) -> None:
    talked(tmp_path)
    active = tmp_path / "home" / "contexts" / "c" / "transcript" / "active.jsonl"
    lines = [json.loads(line) for line in active.read_text().splitlines()]
    aged = [{**one, "timestamp": one["timestamp"] - 1000, "time_ms": one["time_ms"] - 1_000_000} for one in lines]
    active.write_text("".join(json.dumps(one) + "\n" for one in aged))
    talked(tmp_path, "[storage]\npartition_max_age_seconds = 100000")
    assert partitions(tmp_path) == []
    talked(tmp_path, "[storage]\npartition_max_age_seconds = 60")
    assert partitions(tmp_path)


def test_storage_enable_bloom_filters_keeps_filters(tmp_path: Path) -> None:
    def filters() -> list[Path]:
        folder = tmp_path / "home" / "contexts" / "c" / "transcript"
        return [path for path in folder.rglob("*") if "bloom" in path.name or "filter" in path.name]

    talked(tmp_path, "[storage]\npartition_max_entries = 2\nenable_bloom_filters = false")
    assert (bool(partitions(tmp_path)), filters()) == (True, [])
    talked(tmp_path, "[storage]\npartition_max_entries = 2\nenable_bloom_filters = true")
    assert filters()


ON_THE_WIRE = [
    ("temperature = 0.25", {"temperature": 0.25}),
    ("top_p = 0.5", {"top_p": 0.5}),
    ("frequency_penalty = 0.5", {"frequency_penalty": 0.5}),
    ("presence_penalty = 0.25", {"presence_penalty": 0.25}),
    ("seed = 7", {"seed": 7}),
    ('stop = ["END"]', {"stop": ["END"]}),
    ("parallel_tool_calls = false", {"parallel_tool_calls": False}),
    ('tool_choice = "required"', {"tool_choice": "required"}),
    ('tool_choice = "none"', {"tool_choice": "none"}),
    (
        'tool_choice = {type = "function", function = {name = "get_tree"}}',
        {"tool_choice": {"type": "function", "function": {"name": "get_tree"}}},
    ),
    ('response_format = {type = "json_object"}', {"response_format": {"type": "json_object"}}),
]


@pytest.mark.parametrize(("api", "sent"), ON_THE_WIRE, ids=[row[0] for row in ON_THE_WIRE])
def test_every_key_of_api_is_sent(tmp_path: Path, api: str, sent: Mapping[str, object]) -> None:
    plain = talked(tmp_path).body
    body = talked(tmp_path, f"[api]\n{api}").body
    assert {key: body.get(key) for key in sent} == sent
    assert any(plain.get(key) != value for key, value in sent.items())


def test_api_response_format_sends_a_schema_of_ones_own(tmp_path: Path) -> None:
    shape = '{type = "object", properties = {answer = {type = "string"}}}'
    api = f'[api.response_format]\ntype = "json_schema"\njson_schema = {{name = "n", schema = {shape}}}'
    sent = talked(tmp_path, api).body["response_format"]
    assert (sent["type"], sent["json_schema"]["name"]) == ("json_schema", "n")
    assert sent["json_schema"]["schema"]["properties"] == {"answer": {"type": "string"}}


@pytest.mark.parametrize(
    ("reasoning", "sent"),
    [
        ('effort = "high"', "high"),
        ('effort = "none"', "none"),
        ("enabled = true", "medium"),
        ("enabled = false", "none"),
    ],
)
def test_api_reasoning_effort_and_enabled_are_sent(tmp_path: Path, reasoning: str, sent: str) -> None:
    assert "reasoning_effort" not in talked(tmp_path).body
    assert talked(tmp_path, f"[api.reasoning]\n{reasoning}").body["reasoning_effort"] == sent


def test_api_reasoning_exclude_is_sent_to_who_knows_it(tmp_path: Path) -> None:
    api = 'provider = "openrouter"\n[api.reasoning]\neffort = "low"\nexclude = true'
    assert talked(tmp_path, api, dialect="").body["reasoning"] == {"effort": "low", "exclude": True}


def test_api_max_tokens_bounds_the_answer(tmp_path: Path) -> None:
    body = talked(tmp_path, "[api]\nmax_tokens = 77").body
    assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))


def test_api_reasoning_max_tokens_is_sent_to_who_knows_them(tmp_path: Path) -> None:
    plain = talked(tmp_path, dialect="anthropic").body
    budget = talked(tmp_path, "[api.reasoning]\nmax_tokens = 2000", dialect="anthropic").body
    assert "thinking" not in plain
    assert budget["thinking"]["budget_tokens"] == 2000


def test_api_prompt_caching_marks_what_does_not_change(tmp_path: Path) -> None:
    on = json.dumps(talked(tmp_path, dialect="anthropic").body)
    off = json.dumps(talked(tmp_path, "[api]\nprompt_caching = false", dialect="anthropic").body)
    assert ("cache_control" in on, "cache_control" in off) == (True, False)


def test_base_url_alone_means_a_service_that_speaks_as_openai_does(tmp_path: Path) -> None:
    with ModelServer([say("fine")]) as server:
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "config.toml").write_text(f'base_url = "{server.openai}"\nmodel = "scripted-model"\n')
        run_prompt(real_scope(tmp_path), "hello")
        (asked,) = chat_requests(server)
    assert (asked.protocol, asked.model) == ("openai", "scripted-model")


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
def test_provider_and_api_key_say_who_is_asked_and_with_what(tmp_path: Path, dialect: str) -> None:
    (asked,) = talked(tmp_path, dialect=dialect).asked
    assert (asked.protocol, asked.key) == (dialect, KEY)


def test_model_is_the_one_that_is_asked(tmp_path: Path) -> None:
    assert talked(tmp_path, 'model = "other"').asked[0].model == "other"


def test_a_provider_of_ones_own_has_its_own_address_key_and_model(tmp_path: Path) -> None:
    with ModelServer([say("the first")]) as first, ModelServer([say("the second")]) as second:
        rows = f'[providers.mine]\nbase_url = "{second.openai}"\napi_key = "sk-another-0123456789"\nmodel = "other"'
        scope = at(tmp_path, first, rows)
        run_prompt(scope, "hello", flags={"provider": "mine"})
        assert first.requests == ()
        (asked,) = chat_requests(second)
    assert (asked.key, asked.model) == ("sk-another-0123456789", "other")


def test_an_alias_of_models_toml_is_asked_by_its_real_name_with_its_own_settings(tmp_path: Path) -> None:
    models = '[aliases]\nfast = "other"\n[models.other.api]\ntemperature = 0.75\n'
    done = talked(tmp_path, 'model = "fast"', models=models)
    assert (done.asked[0].model, done.body["temperature"]) == ("other", 0.75)


def test_context_window_of_models_toml_bounds_a_request(tmp_path: Path) -> None:
    with pytest.raises(Exhausted):
        talked(tmp_path, models='[models."scripted-model"]\ncontext_window = 5\n')


STYLED = """# h1\n\n## h2\n\n### h3\n\n#### h4\n\n##### h5\n\n###### h6\n
- item\n\n> quoted\n\n---\n\n[words](http://example.com/x) ![picture](http://example.com/y)
\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```python\nx = 1\n```\n\nnote[^1]\n\n[^1]: the note\n"""


@contextmanager
def shown(program: Program, cli: str = "", *flags: str, turn: Step | None = None) -> Generator[str]:
    """What a terminal shows of an answer."""
    with ModelServer([turn or say(STYLED), say("and so")]) as server:
        home = Path(os.environ["MARID_HOME"])
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(f'base_url = "{server.openai}"\nmodel = "scripted-model"\n')
        (home / "cli.toml").write_text(cli)
        with TerminalSession(*flags, "say", "hello") as person:
            assert person.wait_exit() == 0
            yield person.shown


def test_render_markdown_says_whether_a_terminal_gets_rendered_text(marid: Program) -> None:
    with shown(marid, "render_markdown = true") as rendered, shown(marid, "render_markdown = false") as plain:
        assert ("# h1" in rendered, "# h1" in plain) == (False, True)


def test_verbose_and_hide_tool_calls_say_what_is_shown_beside_the_answer(marid: Program) -> None:
    calls = say(calls=[call("get_tree", {"path": "."})])
    with shown(marid, "verbose = false", turn=calls) as quiet, shown(marid, "verbose = true", turn=calls) as told:
        assert ("get_tree" in quiet, "get_tree" in told) == (False, True)
    with shown(marid, "verbose = true\nhide_tool_calls = true", turn=calls) as hidden:
        assert "get_tree" not in hidden


def test_show_thinking_says_whether_thoughts_are_shown(marid: Program) -> None:
    thinks = say("so", reasoning=("deep thought",))
    with shown(marid, turn=thinks) as quiet, shown(marid, "show_thinking = true", turn=thinks) as told:
        assert ("deep thought" in quiet, "deep thought" in told) == (False, True)


def test_every_key_of_markdown_style_colours_what_it_names(marid: Program) -> None:
    marid.set(FORCE_COLOR="1", COLORTERM="truecolor")
    keys = [one.name.rpartition(".")[2] for one in SETTINGS if one.kind == "colour"]
    style = "".join(f'{key} = "#0b16{number:02x}"\n' for number, key in enumerate(keys))
    thinks = say(STYLED, reasoning=("deep thought",))
    with shown(marid, f"show_thinking = true\n[markdown_style]\n{style}", turn=thinks) as text:
        missing = [key for number, key in enumerate(keys) if not re.search(rf"11;22;{number}[;m]", text)]
    assert missing == []


def test_no_setting_is_without_a_test_here() -> None:
    """Those of the earlier parts have theirs beside these parts."""
    earlier = {"max_size_mb", "encoding", "mask", "rules", "clone_host", "search_url", "net_allow"}
    text = Path(__file__).read_text()
    rows = [one.name for one in SETTINGS if one.kind != "colour"]
    missing = [name for name in rows if name not in earlier and name.rpartition(".")[2] not in text]
    assert missing == []
