"""What was wanted and not sent."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakes.model import asking, events_of, gateway_to
from marid.adapters.gateway.dropped_params import dropped_parameters
from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.model_io import Parameters, RequestNotice
from marid.testing import ModelServer, say

ALL = Parameters(temperature=0.5, top_p=0.5, frequency_penalty=0.5, presence_penalty=0.5)


@pytest.mark.parametrize(
    ("dialect", "body", "names"),
    [
        ("openai", {}, ("temperature", "top_p", "frequency_penalty", "presence_penalty")),
        ("openrouter", {"temperature": 0.5, "frequency_penalty": 0.5, "presence_penalty": 0.5}, ("top_p",)),
        ("anthropic", {"top_p": 0.5}, ("temperature", "frequency_penalty", "presence_penalty")),
        ("google", {"generationConfig": {"temperature": 0.5, "topP": 0.5}}, ()),
        ("google", {"temperature": 0.5}, ("temperature", "top_p")),
        ("openai", [], ("temperature", "top_p", "frequency_penalty", "presence_penalty")),
    ],
)
def test_what_a_request_does_not_hold_is_told(dialect: Dialect, body: object, names: tuple[str, ...]) -> None:
    assert dropped_parameters(ALL, dialect, json.dumps(body).encode()) == names


SCHEMA: Mapping[str, Any] = {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": {}}}}


CASES: list[tuple[Parameters, Dialect, Mapping[str, Any], tuple[str, ...]]] = [
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
def test_what_a_dialect_cannot_say_is_told_where_it_matters(
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
def test_what_was_asked_of_a_service_is_told_if_it_was_left_out(
    dialect: Dialect, wanted: Parameters, noted: str
) -> None:
    with ModelServer([say("ok")]) as server:
        events, error = events_of(gateway_to(server, dialect), asking(dialect, parameters=wanted))
    assert error is None
    told = [event.text for event in events if isinstance(event, RequestNotice)]
    assert told == ([f"model 'scripted-model' takes no {noted} as it is asked now: not sent"] if noted else [])


def test_where_nothing_was_wanted_nothing_is_read() -> None:
    assert dropped_parameters(Parameters(seed=1), "openai", b"no JSON") == ()


def test_a_setting_that_the_library_leaves_out_is_told_and_the_answer_comes() -> None:
    with ModelServer([say("ok")]) as server:
        model = gateway_to(server, "openai")
        wanted = asking("openai", parameters=Parameters(temperature=0.5))
        assert not [event for event in events_of(model, wanted)[0] if isinstance(event, RequestNotice)]
    with ModelServer([say("ok")]) as server:
        # The library knows by the name which models reason, and that those take no such settings.
        provider = Provider(id="openrouter", dialect="openrouter", base_url=server.openai)
        events, error = events_of(Gateway(provider), replace(wanted, model="openai/o3"))
        assert "temperature" not in (server.requests[0].body or {})
    assert error is None
    assert events[0] == RequestNotice("model 'openai/o3' takes no api.temperature as it is asked now: not sent")
