"""Answers over the wire, and what happens when the service fails."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from fakes.model import (
    DIALECTS,
    KEY,
    FakeSleep,
    events_of,
    finished,
    gateway_to,
    model_request,
    name_in,
    play,
    provider_at,
    text_of,
)
from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.options import GatewayOptions, RecordKind, RetryPolicy, WireLogFiles
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.errors import BadInput, Exhausted, MaridError, NotFound, Refused, Unavailable
from marid.core.model_io import (
    CallReady,
    Finished,
    GatewayEvent,
    Message,
    Parameters,
    ReasoningDelta,
    ReasoningOptions,
    RetryScheduled,
    TextDelta,
    ToolResult,
    Usage,
    user_message,
)
from marid.testing import (
    Cut,
    Gate,
    Hangup,
    Insert,
    ModelServer,
    Refusal,
    Script,
    ScriptedModel,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
    always,
    bad_request,
    call,
    comment,
    context_too_long,
    gateway_error,
    malformed_event,
    overloaded_error,
    rate_limited,
    say,
    server_error,
    unauthorized_error,
    unknown_model,
)
from marid.testing import ScriptedUsage as Tokens

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@every_dialect
def test_reasoning_text_calls_and_usage_are_the_same_in_every_dialect(dialect: Dialect) -> None:
    turn = say(
        "A", "B", reasoning=("th", "ink"), calls=[call("get_tree", {"path": "."}, pieces=3)], usage=Tokens(cached=2)
    )
    events, error, _ = play(dialect, turn)
    assert error is None
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "think"
    assert text_of(events) == "AB"
    (ready,) = [event.call for event in events if isinstance(event, CallReady)]
    assert (ready.name, ready.arguments) == ("get_tree", '{"path": "."}')
    assert events[-2] == Usage(10, 5, cached=2)
    assert finished(events).reason == "calls"
    assert finished(events).model == name_in(dialect)


@every_dialect
def test_a_service_that_recovers_is_asked_again(dialect: Dialect) -> None:
    naps = FakeSleep()
    options = GatewayOptions(retry_policy=RetryPolicy(sleep=naps, jitter=lambda: 1.0))
    steps = (rate_limited(retry_after=7), overloaded_error(), gateway_error(), say("fine"))
    events, error, _ = play(dialect, *steps, options=options)
    assert error is None
    assert [event.attempt for event in events if isinstance(event, RetryScheduled)] == [2, 3, 4]
    assert naps.waits == [7.0, 1.0, 2.0]
    assert text_of(events) == "fine"


@every_dialect
@pytest.mark.parametrize("failing", [server_error(), overloaded_error(), rate_limited(), say(faults=[Hangup()])])
def test_a_service_that_stays_down_is_unavailable_after_three_further_tries(dialect: Dialect, failing: Any) -> None:
    events, error, requests = play(dialect, always(failing))
    assert len(requests) == 4
    assert isinstance(error, Unavailable)
    assert all(isinstance(event, RetryScheduled) for event in events)


@every_dialect
@pytest.mark.parametrize(
    ("refusal", "family"),
    [
        (unauthorized_error(), Refused),
        (bad_request("no such field"), BadInput),
        (unknown_model("zzz"), NotFound),
        (context_too_long(), Exhausted),
        (Refusal(kind="server", status=413, message="too large"), Exhausted),
    ],
)
def test_a_permanent_error_is_not_retried(dialect: Dialect, refusal: Refusal, family: type[MaridError]) -> None:
    events, error, requests = play(dialect, always(refusal))
    assert len(requests) == 1
    assert type(error) is family
    assert events == []


@pytest.mark.parametrize(
    ("asked", "least", "most"), [("60", 60, 60), ("1.5", 1.5, 1.5), ("-5", 0.25, 0.5), ("soon", 0.25, 0.5), (0, 0, 0)]
)
def test_retry_after_is_honoured_within_reason(asked: float | str, least: float, most: float) -> None:
    naps = FakeSleep()
    options = GatewayOptions(retry_policy=RetryPolicy(sleep=naps))
    play("openai", rate_limited(retry_after=asked), say("ok"), options=options)
    assert least <= naps.waits[0] <= most


@every_dialect
@pytest.mark.parametrize("asked", ["Fri, 31 Dec 2100 23:59:59 GMT", "3600"])
def test_a_long_retry_after_is_an_error_at_once(dialect: Dialect, asked: str) -> None:
    naps = FakeSleep()
    options = GatewayOptions(retry_policy=RetryPolicy(sleep=naps))
    events, error, requests = play(dialect, always(rate_limited(retry_after=asked)), options=options)
    assert len(requests) == 1
    assert isinstance(error, Unavailable)
    assert re.search(r"it asks to wait [\d,]+ s$", str(error))
    assert (events, naps.waits) == ([], [])


@every_dialect
@pytest.mark.parametrize("status", [408, 409, 425])
def test_statuses_that_must_not_be_retried_are_not(dialect: Dialect, status: int) -> None:
    _, error, requests = play(dialect, always(server_error(status)))
    assert len(requests) == 1
    assert isinstance(error, Unavailable)


@every_dialect
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_neither_followed_nor_retried(dialect: Dialect, status: int) -> None:
    away = Refusal(kind="server", status=status, headers={"Location": "http://127.0.0.1:9/v1"})
    _, error, requests = play(dialect, always(away))
    assert len(requests) == 1
    assert isinstance(error, Unavailable)
    assert "redirects requests; check base_url" in str(error)


OPENAI_ERROR = b'{"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]}'


@pytest.mark.parametrize(
    ("dialect", "event"),
    [
        ("openai", OPENAI_ERROR),
        ("openrouter", OPENAI_ERROR),
        ("google", b'{"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}'),
        ("google", b'{"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL"}]}'),
    ],
)
def test_an_answer_that_ends_with_an_error_before_any_text_is_retried(dialect: Dialect, event: bytes) -> None:
    failed = say(faults=[Insert(data=b"data: %s\n\n" % event), Cut(after=0, how="clean")])
    events, error, requests = play(dialect, failed, say("fine"))
    assert (error, len(requests)) == (None, 2)
    assert text_of(events) == "fine"


@every_dialect
@pytest.mark.parametrize("how", ["close", "reset", "clean"])
def test_a_cut_answer_keeps_its_text_and_is_not_retried(dialect: Dialect, how: Any) -> None:
    events, error, requests = play(dialect, always(say("one", "two", "three", faults=[Cut(after=2, how=how)])))
    assert len(requests) == 1
    assert isinstance(error, Unavailable)
    assert text_of(events) == "onetwo"
    assert isinstance(events[-1], Usage)
    assert events[-1].estimated


@every_dialect
def test_an_error_in_the_middle_of_an_answer_ends_it(dialect: Dialect) -> None:
    events, error, requests = play(
        dialect, always(say("one", "two", faults=[StreamError(refusal=overloaded_error(), after=1)]))
    )
    assert len(requests) == 1
    assert isinstance(error, Unavailable)
    assert text_of(events) == "one"


@every_dialect
@pytest.mark.parametrize(
    "fault",
    [comment("ping", after=1), SplitUtf8(), Trickle(size=1), WrongType(), WrongType(kind="application/json")],
    ids=lambda f: type(f).__name__,
)
def test_an_unusual_stream_is_read(dialect: Dialect, fault: Any) -> None:
    events, error, _ = play(dialect, say("é", "日本", "😀", faults=[fault]))
    assert error is None
    assert text_of(events) == finished(events).reply.text == "é日本😀"


@every_dialect
def test_a_damaged_answer_is_retried_until_text_was_emitted(dialect: Dialect) -> None:
    first, second = say("one", faults=[malformed_event()]), say("two", "three", faults=[malformed_event(after=1)])
    events, error, requests = play(dialect, first, second)
    assert len(requests) == 2
    assert isinstance(error, Unavailable)
    assert text_of(events) == "two"
    assert isinstance(events[-1], Usage)


@every_dialect
def test_calls_with_the_same_id_each_get_their_result(dialect: Dialect) -> None:
    turn = say(calls=[call("get_tree", {"path": path}, id="same") for path in "abc"])
    with ModelServer([turn, say("done")]) as server:
        model = gateway_to(server, dialect)
        events, _ = events_of(model, model_request(dialect))
        reply = finished(events).reply
        assert len({one.id for one in reply.calls}) == 3
        results = tuple(ToolResult(call_id=one.id, name=one.name, text=one.arguments) for one in reply.calls)
        events_of(model, model_request(dialect, user_message("hi"), reply, Message(role="tool", parts=results)))
        received = server.requests[1].results
    assert [result.id for result in received] == [one.id for one in reply.calls]


@pytest.mark.parametrize("dialect", ["openai", "openrouter", "anthropic"])  # Google's arguments are not text
def test_arguments_that_are_not_json_are_passed_on(dialect: Dialect) -> None:
    with ModelServer([say(calls=[call("get_tree", '{"path": ')], finish="length"), say("ok")]) as server:
        model = gateway_to(server, dialect)
        events, error = events_of(model, model_request(dialect))
        assert error is None
        reply = finished(events).reply
        assert reply.calls[0].arguments == '{"path": '
        result = ToolResult(call_id=reply.calls[0].id, name="get_tree", text="ERROR: no JSON", failed=True)
        _, error = events_of(
            model, model_request(dialect, user_message("hi"), reply, Message(role="tool", parts=(result,)))
        )
    assert error is None


def test_two_hundred_calls_at_once_all_arrive() -> None:
    events, _, _ = play("openai", say(calls=[call("get_tree", {"path": str(number)}) for number in range(200)]))
    assert len(finished(events).reply.calls) == 200


@every_dialect
def test_an_empty_answer_is_an_answer(dialect: Dialect) -> None:
    events, error, _ = play(dialect, say())
    assert error is None
    assert finished(events).reply == Message(role="assistant", parts=())


@every_dialect
def test_usage_that_the_service_does_not_report_is_estimated(dialect: Dialect) -> None:
    events, _, _ = play(dialect, say("word " * 10, usage=None))
    usage = events[-2]
    assert isinstance(usage, Usage)
    assert usage.estimated
    assert usage.input > 10
    assert usage.output == 13


@every_dialect
def test_a_cancelled_answer_reports_its_usage_and_closes_the_connection(dialect: Dialect) -> None:
    got: list[GatewayEvent] = []
    with ModelServer([say("one", "two", faults=[Stall(gate=Gate(), after=1)])]) as server:
        model = gateway_to(server, dialect)

        async def main() -> None:
            with anyio.CancelScope() as scope:

                async def take(event: GatewayEvent) -> None:
                    got.append(event)
                    if isinstance(event, TextDelta):
                        scope.cancel()

                await model.stream(model_request(dialect), take)

        anyio.run(main)
        assert server.wait_for_end(0) == "left"
    assert [type(event) for event in got] == [TextDelta, Usage]


@every_dialect
def test_a_request_cancelled_before_its_answer_reports_its_usage(dialect: Dialect) -> None:
    got: list[GatewayEvent] = []
    gate = Gate()
    with ModelServer([say("late", faults=[Stall(gate=gate, before_headers=True)])]) as server:
        model = gateway_to(server, dialect)

        async def take(event: GatewayEvent) -> None:
            got.append(event)

        async def main() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(model.stream, model_request(dialect), take)
                assert await anyio.to_thread.run_sync(gate.wait, 30.0)
                group.cancel_scope.cancel()

        anyio.run(main)
    assert [type(event) for event in got] == [Usage]


@every_dialect
def test_an_attempt_that_fails_after_it_has_begun_reports_its_usage(dialect: Dialect) -> None:
    events, error, _ = play(dialect, say("one", faults=[Cut(after=0)]), server_error(), say("two"))
    assert error is None
    assert [type(event) for event in events] == [Usage, RetryScheduled, RetryScheduled, TextDelta, Usage, Finished]
    assert [event.estimated for event in events if isinstance(event, Usage)] == [True, False]


def test_a_silent_service_may_charge_and_one_that_begins_with_an_error_does_not() -> None:
    silent, failed = say(faults=[Stall(before_headers=True)]), say(faults=[StreamError(refusal=overloaded_error())])
    options = GatewayOptions(retry_policy=RetryPolicy(idle_timeout=0.5, sleep=FakeSleep()))
    play("openai", say("first"))  # takes long on our side
    for turn, costs in ((silent, 4), (failed, 0), (say(faults=[Hangup()]), 0)):
        events, error, _ = play("openai", always(turn), options=options)
        assert isinstance(error, Unavailable)
        assert sum(isinstance(event, Usage) for event in events) == costs


@every_dialect
def test_an_answer_cut_after_reasoning_alone_is_retried(dialect: Dialect) -> None:
    events, error, requests = play(
        dialect, say("one", reasoning=("hm",), faults=[Cut(after=1)]), say("two", reasoning=("so",))
    )
    assert len(requests) == 2
    assert error is None
    assert text_of(events) == "two"
    assert [event.text for event in events if isinstance(event, ReasoningDelta)] == ["hm", "so"]


@every_dialect
def test_excluded_reasoning_is_not_emitted(dialect: Dialect) -> None:
    for wanted in (ReasoningOptions(exclude=True), ReasoningOptions(effort="low", exclude=True)):
        turn = say("A", reasoning=("th", "ink"))
        events, error, _ = play(dialect, turn, parameters=Parameters(reasoning=wanted))
        assert error is None
        assert text_of(events) == "A"
        assert not [event for event in events if isinstance(event, ReasoningDelta)]


def test_the_reported_wait_is_rounded() -> None:
    options = GatewayOptions(retry_policy=RetryPolicy(sleep=FakeSleep(), jitter=lambda: 0.123))
    events, _, _ = play("openai", server_error(), say("ok"), options=options)
    assert [event.seconds for event in events if isinstance(event, RetryScheduled)] == [0.3]


@every_dialect
def test_the_log_holds_what_went_over_the_wire_and_no_key(dialect: Dialect) -> None:
    records: list[tuple[RecordKind, Mapping[str, Any]]] = []
    with ModelServer([unauthorized_error(f"bad key {KEY}"), say("ok")]) as server:
        model = gateway_to(
            server, dialect, GatewayOptions(wire_log=lambda kind, record: records.append((kind, record)))
        )
        _, error = events_of(model, model_request(dialect, user_message(f"my key is {KEY}")))
        events_of(model, model_request(dialect))
        assert {request.key for request in server.requests} == {KEY}
    assert [kind for kind, _ in records] == ["request", "response"] * 2
    assert records[0][1]["request"]
    answers = [record["response"] for kind, record in records if kind == "response"]
    assert [(record["status"], "usage" in record) for record in answers] == [(401, False), (200, True)]
    assert KEY not in repr(records) + repr(error) + repr(model)


@every_dialect
def test_the_environment_is_ignored(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE", "GEMINI", "OPENROUTER"):
        monkeypatch.setenv(f"{name}_API_KEY", "stolen")
        monkeypatch.setenv(f"{name}_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv(f"{name}_CUSTOM_HEADERS", "X-Mine: stolen")
    for name in ("ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "stolen")
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "replay")
    with ModelServer([say("ok")]) as server:
        keyless = Gateway(replace(provider_at(server, dialect), api_key=""))
        _, error = events_of(keyless, model_request(dialect))
        assert error is None
        assert "stolen" not in repr(dict(server.requests[0].headers))
        assert not server.requests[0].key


def test_a_service_that_does_not_run_is_unavailable() -> None:
    with ModelServer([]) as server:
        provider = provider_at(server, "openai")
    _, error = events_of(
        Gateway(provider, GatewayOptions(retry_policy=RetryPolicy(sleep=FakeSleep()))), model_request("openai")
    )
    assert isinstance(error, Unavailable)


@every_dialect
def test_a_model_that_the_table_does_not_know_is_looked_for_in_the_list(dialect: Dialect) -> None:
    with ModelServer(Script(models=[ScriptedModel(id="mine", context=777)])) as server:
        model = gateway_to(server, dialect, GatewayOptions(context_windows={"mine": 555}))
        assert anyio.run(model.info, "mine").context_window == 777
        assert model.context_window("mine") == 555
        assert model.context_window("other") == 0
        with pytest.raises(NotFound):
            anyio.run(model.info, "other")


def test_a_model_that_the_table_knows_needs_no_network() -> None:
    model = Gateway(Provider(id="openai", dialect="openai", base_url="https://api.openai.com/v1", api_key="k"))
    assert anyio.run(model.info, "gpt-4o").context_window == 128_000
    assert model.context_window("gpt-4o") == 128_000


def test_a_model_known_in_part_has_no_window() -> None:
    with ModelServer(Script(models=[])) as server:
        model = gateway_to(server, "openai")
        assert anyio.run(model.info, "tts-1").context_window == 0


def test_the_library_is_not_loaded_before_a_model_is_asked() -> None:
    code = "import sys, marid.adapters.gateway.gateway; print(*sorted(sys.modules))"
    # What a measured test run adds to every process would hide what we import ourselves.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)
    heavy = {"pydantic", "pydantic_ai", "pydantic_core", "httpx2", "openai", "genai_prices", "ssl"}
    assert not heavy & set(done.stdout.split())


STERN = RetryPolicy(jitter=lambda: 1.0)


def test_each_wait_is_twice_the_last_up_to_the_longest() -> None:
    assert [STERN.delay(failures, None) for failures in (0, 1, 2, 10)] == [0.5, 1.0, 2.0, 30.0]


def test_jitter_takes_at_most_half_of_a_wait() -> None:
    assert [RetryPolicy(jitter=lambda: 0.0).delay(failures, None) for failures in (0, 3)] == [0.25, 2.0]


@pytest.mark.parametrize(("asked", "waits"), [(7.0, 7.0), (0.0, 0.0), (-5.0, 0.0), (1.5, 1.5)])
def test_the_service_s_retry_after_wins(asked: float, waits: float) -> None:
    assert STERN.delay(0, asked) == waits


def test_records_are_lines_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    old = os.umask(0)
    try:
        log = WireLogFiles(requests=str(path))
        log("request", {"a": "é"})
        log("request", {"b": 2})
        log("response", {"c": 3})
    finally:
        os.umask(old)
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [{"a": "é"}, {"b": 2}]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["requests.jsonl"]


def test_a_log_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name in ("no/where", "link"):
        with pytest.raises(Unavailable, match="cannot write the log"):
            WireLogFiles(responses=str(tmp_path / name))("response", {})
