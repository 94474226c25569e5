"""Our parameters as the library's settings."""

import json
import logging
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

import httpx2
import pytest

from fakes.model import DIALECTS, KEY, TREE, events_of, gateway_to, model_request, play
from marid.adapters.gateway.gateway import Gateway, silence_libraries
from marid.adapters.gateway.library_request import dropped_parameters, model_for, parameters_for, settings_for
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.model_io import ForcedTool, ModelRequest, Parameters, ReasoningOptions, RequestNotice, user_message
from marid.testing import Insert, ModelServer, always, say

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")
PLAIN = Parameters(prompt_caching=False)


def settings(dialect: Dialect, parameters: Parameters, *, tools: bool = True, url: str = "http://x") -> dict[str, Any]:
    provider = Provider(id=dialect, dialect=dialect, base_url=url)
    request = ModelRequest(
        model="m", messages=(user_message("hi"),), tools=(TREE,) if tools else (), parameters=parameters
    )
    return dict(settings_for(provider, request))


def test_nothing_wanted_is_nothing_sent() -> None:
    assert settings("openai", PLAIN) == {}
    assert settings("openai", Parameters()) == {"cache": True}


def test_simple_parameters_are_the_same_everywhere() -> None:
    wanted = replace(PLAIN, temperature=0.0, max_tokens=9, top_p=0.5, stop=("x",), seed=1, frequency_penalty=0.1)
    sent = {"temperature": 0.0, "max_tokens": 9, "top_p": 0.5, "seed": 1, "frequency_penalty": 0.1}
    assert settings("google", wanted) == {**sent, "stop_sequences": ["x"]}


def test_choices_of_tools_are_sent_only_with_tools() -> None:
    wanted = replace(PLAIN, tool_choice="required", parallel_tool_calls=False)
    assert settings("openai", wanted) == {"tool_choice": "required", "parallel_tool_calls": False}
    assert settings("google", wanted) == {"tool_choice": "required"}
    assert settings("openai", wanted, tools=False) == {}
    assert settings("anthropic", replace(PLAIN, tool_choice=ForcedTool("get_tree"))) == {"tool_choice": ["get_tree"]}


@pytest.mark.parametrize(
    ("thinking", "effort"),
    [
        (ReasoningOptions(effort="high"), "high"),
        (ReasoningOptions(effort="none"), "none"),
        (ReasoningOptions(enabled=False, effort="high"), "none"),
        (ReasoningOptions(enabled=False, max_tokens=2000), "none"),
        (ReasoningOptions(enabled=True), "medium"),
        (ReasoningOptions(effort="odd"), None),
        (ReasoningOptions(max_tokens=2000, effort="high"), "low"),
    ],
)
def test_effort_is_sent_as_one_word(thinking: ReasoningOptions, effort: str | None) -> None:
    wanted = replace(PLAIN, reasoning=thinking)
    assert settings("openai", wanted).get("openai_reasoning_effort") == effort
    official = settings("openai", wanted, url="https://api.openai.com/v1")
    assert official.get("thinking") == (effort != "none" and effort)


def test_a_reasoning_budget_is_sent_where_the_dialect_has_one() -> None:
    disabled = replace(PLAIN, reasoning=ReasoningOptions(enabled=False, max_tokens=2000))
    assert settings("anthropic", disabled) == settings("google", disabled) == {"thinking": False}
    wanted = replace(PLAIN, reasoning=ReasoningOptions(max_tokens=2000, exclude=True))
    assert settings("anthropic", wanted) == {"anthropic_thinking": {"type": "enabled", "budget_tokens": 2000}}
    assert settings("google", wanted)["google_thinking_config"]["include_thoughts"] is False
    assert settings("openrouter", wanted) == {"openrouter_reasoning": {"max_tokens": 2000, "exclude": True}}
    hidden = replace(PLAIN, reasoning=ReasoningOptions(effort="low", exclude=True))
    assert settings("openrouter", hidden) == {"openrouter_reasoning": {"effort": "low", "exclude": True}}


def test_an_answer_in_json_is_asked_for_in_the_dialects_way() -> None:
    wanted = replace(PLAIN, response_format={"type": "json_object"})
    assert settings("openai", wanted) == {"extra_body": {"response_format": {"type": "json_object"}}}
    assert settings("google", wanted) == {}
    plain = ModelRequest(model="m", messages=(), parameters=wanted)
    assert parameters_for(plain, "google").output_mode == "prompted"
    assert parameters_for(plain, "openai").output_mode == "text"
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    request = ModelRequest(model="m", messages=(), parameters=replace(PLAIN, response_format=form))
    made = parameters_for(request)
    assert made.output_mode == "native"
    assert made.output_object
    assert made.output_object.name == "n"


def test_google_is_asked_for_json_only_without_tools() -> None:
    wanted = Parameters(response_format={"type": "json_object"})
    with ModelServer([always(say("{}"))]) as server:
        for tools, kinds in (((), ["application/json"]), ((TREE,), [])):
            request = replace(model_request("google", parameters=wanted, tools=tools), model="gemini-2.5-pro")
            events, error = events_of(gateway_to(server, "google"), request)
            assert error is None
            sent: Any = server.requests[-1].body
            assert [sent["generationConfig"]["responseMimeType"] for _ in kinds] == kinds
            assert any(isinstance(event, RequestNotice) for event in events) is not bool(kinds)


@pytest.mark.parametrize(
    ("thinking", "max_tokens", "raised", "budget"),
    [
        (ReasoningOptions(effort="high"), 1000, 17384, 16384),
        (ReasoningOptions(effort="low"), 2049, 2049, 2048),
        (ReasoningOptions(max_tokens=5000), 1000, 6000, 5000),
        (ReasoningOptions(max_tokens=10), 2000, 2000, 1024),
    ],
)
def test_the_token_limit_leaves_room_for_an_answer_beside_the_reasoning(
    thinking: ReasoningOptions, max_tokens: int, raised: int, budget: int
) -> None:
    wanted = Parameters(reasoning=thinking, max_tokens=max_tokens, temperature=0.3, top_p=0.5)
    events, error, requests = play("anthropic", say("ok"), parameters=wanted)
    assert error is None
    sent: Any = requests[0].body
    assert (sent["max_tokens"], sent["thinking"]["budget_tokens"]) == (raised, budget)
    assert not {"temperature", "top_p"} & sent.keys()
    (noted,) = [event.text for event in events if isinstance(event, RequestNotice)]
    assert "api.temperature, api.top_p" in noted


def test_without_reasoning_temperature_and_tokens_are_kept() -> None:
    wanted = replace(PLAIN, temperature=0.3, max_tokens=10, reasoning=ReasoningOptions(enabled=False))
    assert settings("anthropic", wanted) == {"temperature": 0.3, "max_tokens": 10, "thinking": False}
    assert settings("anthropic", replace(wanted, reasoning=ReasoningOptions(effort="low"), top_p=0.99))["top_p"] == 0.99


@pytest.mark.parametrize(
    ("dialect", "place", "value"),
    [
        ("openai", ("max_tokens",), 77),
        ("openai", ("stop",), ["END"]),
        ("openai", ("temperature",), 0.25),
        ("openai", ("parallel_tool_calls",), False),
        ("openai", ("tool_choice",), "required"),
        ("openai", ("reasoning_effort",), "none"),
        ("openrouter", ("reasoning", "effort"), "none"),
        ("openrouter", ("max_tokens",), 77),
        ("anthropic", ("max_tokens",), 77),
        ("anthropic", ("stop_sequences",), ["END"]),
        ("anthropic", ("tool_choice", "disable_parallel_tool_use"), True),
        ("google", ("generationConfig", "maxOutputTokens"), 77),
        ("google", ("generationConfig", "stopSequences"), ["END"]),
        ("google", ("toolConfig", "functionCallingConfig", "mode"), "ANY"),
    ],
)
def test_what_is_wanted_reaches_the_provider(dialect: Dialect, place: tuple[str, ...], value: object) -> None:
    wanted = Parameters(
        max_tokens=77,
        stop=("END",),
        temperature=0.25,
        parallel_tool_calls=False,
        tool_choice="required",
        reasoning=ReasoningOptions(effort="none"),
    )
    _, error, requests = play(dialect, say("ok"), parameters=wanted)
    assert error is None
    sent: Any = requests[0].body
    for name in place:
        sent = sent[name]
    assert sent == value


def test_effort_reaches_unknown_models() -> None:
    wanted = Parameters(reasoning=ReasoningOptions(effort="low"))
    assert play("openai", say("ok"), parameters=wanted).requests[0].body["reasoning_effort"] == "low"


@pytest.mark.parametrize("dialect", ["openai", "openrouter", "anthropic", "google"])
def test_a_schema_for_the_answer_reaches_the_provider(dialect: Dialect) -> None:
    schema = {"type": "object", "properties": {"flavour": {"type": "string"}}, "required": ["flavour"]}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    _, error, requests = play(dialect, say("{}"), parameters=Parameters(response_format=form))
    assert error is None
    assert "flavour" in str(requests[0].body)


def test_every_model_name_is_sent_to_openrouter() -> None:
    with ModelServer([say("ok")]) as server:
        _, error = events_of(gateway_to(server, "openrouter"), replace(model_request("openrouter"), model="auto"))
        assert error is None
        assert server.requests[0].model == "auto"


@pytest.mark.parametrize("dialect", ["openai", "openrouter", "anthropic", "google"])
def test_loading_can_be_done_ahead(dialect: str) -> None:
    program = f"""
import sys
from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.providers import Provider
provider = Provider(id="p", dialect="{dialect}", base_url="http://x")
Gateway(provider).warm()
import httpx2
from marid.adapters.gateway.library_request import model_for
before = {{*sys.modules}}
model_for(provider, "m", httpx2.AsyncClient())
print([name for name in sys.modules if name not in before and name.startswith("pydantic_ai")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


def test_compatible_services_keep_their_own_name() -> None:
    async def refuse(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(500)

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(refuse))
    own = model_for(Provider(id="openai", dialect="openai", base_url="https://api.openai.com/v1"), "gpt-4o", client)
    other = model_for(Provider(id="lmstudio", dialect="openai", base_url="http://localhost:1234/v1"), "q", client)
    assert (own.system, other.system) == ("openai", "lmstudio")


_ODD = (
    b'data: {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": '
    b'[{"index": 0, "delta": {"content": {"k": "%s"}, "reasoning": {"k": 7}}}]}\n\n'
)
ODD = _ODD % KEY.encode()


@pytest.mark.parametrize(
    ("message", "module"),
    [
        ("Sampling parameters are not supported", "pydantic_ai.models.openai"),
        ("Pydantic serializer warnings:\n  of a key", "pydantic.main"),
        ("any", "google.genai.types"),
        ('"\\d" is an invalid escape sequence', "/somewhere/google/genai/types"),
    ],
)
def test_warnings_of_the_libraries_are_ignored(message: str, module: str) -> None:
    silence_libraries()
    warnings.warn_explicit(message, UserWarning, f"{module}.py", 1, module=module)


@pytest.mark.parametrize("module", ["pydantic.main", "marid.core.model_io", "openair"])
def test_warnings_of_others_are_not(module: str) -> None:
    silence_libraries()
    with pytest.warns(UserWarning, match="mine"):
        warnings.warn_explicit("mine", UserWarning, f"{module}.py", 1, module=module)


def test_silencing_twice_adds_no_filters() -> None:
    silence_libraries()
    before = list(warnings.filters)
    silence_libraries()
    assert list(warnings.filters) == before


def test_logs_of_the_libraries_go_nowhere() -> None:
    silence_libraries()
    written = StringIO()
    handler = logging.StreamHandler(written)
    logging.getLogger().addHandler(handler)
    try:
        for name in ("openai._base_client", "anthropic._base_client", "httpx2", "google_genai.models"):
            logging.getLogger(name).critical("the key is %s", KEY)
    finally:
        logging.getLogger().removeHandler(handler)
    assert written.getvalue() == ""


@pytest.mark.parametrize("dialect", DIALECTS[:2])
def test_an_unusual_answer_causes_no_warning(dialect: Dialect, recwarn: pytest.WarningsRecorder) -> None:
    with ModelServer([say("!", faults=[Insert(data=ODD)])]) as server:
        events_of(gateway_to(server, dialect), model_request(dialect))
    assert [str(warning.message) for warning in recwarn if KEY in str(warning.message)] == []


ALL = Parameters(temperature=0.5, top_p=0.5, frequency_penalty=0.5, presence_penalty=0.5)
SCHEMA: Mapping[str, Any] = {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": {}}}}
CASES: list[tuple[Parameters, Dialect, object, tuple[str, ...]]] = [
    (ALL, "openai", {}, ("temperature", "top_p", "frequency_penalty", "presence_penalty")),
    (ALL, "openai", [], ("temperature", "top_p", "frequency_penalty", "presence_penalty")),
    (ALL, "openrouter", {"temperature": 0.5, "frequency_penalty": 0.5, "presence_penalty": 0.5}, ("top_p",)),
    (ALL, "anthropic", {"top_p": 0.5}, ("temperature", "frequency_penalty", "presence_penalty")),
    (ALL, "google", {"generationConfig": {"temperature": 0.5, "topP": 0.5}}, ()),
    (ALL, "google", {"temperature": 0.5}, ("temperature", "top_p")),
    (Parameters(seed=1), "anthropic", {}, ("seed",)),
    (Parameters(response_format={"type": "json_object"}), "anthropic", {}, ("response_format",)),
    (Parameters(response_format=SCHEMA), "anthropic", {"output_config": {"format": {}}}, ()),
    (Parameters(response_format=SCHEMA), "anthropic", {"output_format": {}}, ()),
    (Parameters(response_format=SCHEMA), "anthropic", {"output_config": {"effort": "low"}}, ("response_format",)),
    (Parameters(response_format={"type": "text"}), "anthropic", {}, ()),
    (Parameters(parallel_tool_calls=False), "google", {"tools": [{}]}, ("parallel_tool_calls",)),
    (Parameters(parallel_tool_calls=False), "google", {}, ()),
    (Parameters(parallel_tool_calls=True), "google", {"tools": [{}]}, ()),
    (Parameters(parallel_tool_calls=False), "openai", {"tools": [{}]}, ()),
]


@pytest.mark.parametrize(("wanted", "dialect", "body", "names"), CASES)
def test_parameters_missing_in_a_request_are_found_where_they_matter(
    wanted: Parameters, dialect: Dialect, body: object, names: tuple[str, ...]
) -> None:
    assert dropped_parameters(wanted, dialect, json.dumps(body).encode()) == names


@pytest.mark.parametrize(
    ("dialect", "wanted", "noted"),
    [
        ("anthropic", Parameters(response_format={"type": "json_object"}, seed=1), "api.seed, api.response_format"),
        ("anthropic", Parameters(response_format=SCHEMA), ""),
        ("google", Parameters(parallel_tool_calls=False, seed=1), "api.parallel_tool_calls"),
    ],
)
def test_a_dropped_parameter_is_reported(dialect: Dialect, wanted: Parameters, noted: str) -> None:
    events, error, _ = play(dialect, say("ok"), parameters=wanted)
    assert error is None
    notices = [event.text for event in events if isinstance(event, RequestNotice)]
    assert notices == (
        [f"model 'scripted-model' does not accept {noted} with these settings: not sent"] if noted else []
    )


def test_without_parameters_the_body_is_not_read() -> None:
    assert dropped_parameters(Parameters(seed=1), "openai", b"no JSON") == ()


def test_a_setting_that_the_library_drops_is_reported_and_the_answer_comes() -> None:
    with ModelServer([say("ok")]) as server:
        model = gateway_to(server, "openai")
        wanted = model_request("openai", parameters=Parameters(temperature=0.5))
        assert not [event for event in events_of(model, wanted)[0] if isinstance(event, RequestNotice)]
    with ModelServer([say("ok")]) as server:
        # The library knows by the name which models reason, and that those take no such settings.
        provider = Provider(id="openrouter", dialect="openrouter", base_url=server.openai)
        events, error = events_of(Gateway(provider), replace(wanted, model="openai/o3"))
        assert "temperature" not in (server.requests[0].body or {})
    assert error is None
    assert events[0] == RequestNotice("model 'openai/o3' does not accept api.temperature with these settings: not sent")
