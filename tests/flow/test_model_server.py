"""The scripted model server, judged by the libraries that real programs use.

They are imported where they are used: together they take seconds, which other tests of a run should not pay for.
"""

import json
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from fakes.model import events_of, finished, gateway_to, model_request, text_of
from marid.adapters.gateway.providers import Dialect
from marid.core.model_io import Message, ToolResult, user_message
from marid.testing import (
    Cut,
    Gate,
    Hangup,
    ModelServer,
    Refusal,
    Request,
    Script,
    ScriptedModel,
    ScriptedUsage,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    Turn,
    WrongType,
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

MODEL = "scripted-model"
KEY = "the-key-of-the-test"


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What came through a library: calls as (id, name, arguments), usage as (input, output, cached)."""

    text: str = ""
    reasoning: str = ""
    signature: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()
    usage: tuple[int, int, int] | None = None


class Client(Protocol):
    """A library under one roof with the others."""

    def ask(self, *, stream: bool, seconds: float = 30.0) -> Heard: ...


class OpenAI:
    def __init__(self, server: ModelServer) -> None:
        import openai

        self.client = openai.OpenAI(base_url=server.openai, api_key=KEY, max_retries=0)
        self.close = self.client.close

    def models(self) -> list[tuple[str, int]]:
        listed: Any = self.client.models.list()
        return [(one.id, one.context_length) for one in listed]

    def ask(self, *, stream: bool, seconds: float = 30.0) -> Heard:
        create: Any = self.client.chat.completions.create
        said: Any = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}], "timeout": seconds}
        if not stream:
            done = create(**said)
            return _openai_heard([done.choices[0].message], done.usage)
        chunks = list(create(**said, stream=True, stream_options={"include_usage": True}))
        return _openai_heard([chunk.choices[0].delta for chunk in chunks if chunk.choices], chunks[-1].usage)


def _openai_heard(messages: Iterable[Any], usage: Any) -> Heard:
    seen = list(messages)
    calls: dict[int, tuple[str, str, str]] = {}
    for message in seen:
        for place, part in enumerate(message.tool_calls or ()):
            index = getattr(part, "index", place)
            id, name, text = calls.get(index, (part.id, part.function.name, ""))
            calls[index] = (id, name, text + (part.function.arguments or ""))
    return Heard(
        text="".join(message.content or "" for message in seen),
        reasoning="".join(getattr(message, "reasoning_content", "") for message in seen),
        calls=tuple(calls.values()),
        usage=usage and (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens),
    )


class Anthropic:
    def __init__(self, server: ModelServer) -> None:
        import anthropic

        self.client = anthropic.Anthropic(base_url=server.anthropic, api_key=KEY, max_retries=0)
        self.close = self.client.close

    def models(self) -> list[tuple[str, int]]:
        return [(one.id, one.max_input_tokens or 0) for one in self.client.models.list()]

    def ask(self, *, stream: bool, seconds: float = 30.0) -> Heard:
        messages: Any = self.client.messages
        said: Any = [{"role": "user", "content": "hi"}]
        if not stream:
            return _anthropic_heard(messages.create(model=MODEL, max_tokens=9, messages=said, timeout=seconds))
        with messages.stream(model=MODEL, max_tokens=9, messages=said, timeout=seconds) as events:
            return _anthropic_heard(events.get_final_message())


def _anthropic_heard(message: Any) -> Heard:
    thoughts = [block for block in message.content if block.type == "thinking"]
    usage, cached = message.usage, message.usage.cache_read_input_tokens
    return Heard(
        text="".join(block.text for block in message.content if block.type == "text"),
        reasoning="".join(block.thinking for block in thoughts),
        signature="".join(block.signature for block in thoughts),
        calls=tuple((block.id, block.name, block.input) for block in message.content if block.type == "tool_use"),
        usage=(usage.input_tokens + cached, usage.output_tokens, cached),
    )


class Google:
    def __init__(self, server: ModelServer) -> None:
        from google import genai

        self.client = genai.Client(api_key=KEY, http_options={"base_url": server.google})
        self.close = self.client.close

    def models(self) -> list[tuple[str, int]]:
        listed: Any = self.client.models.list()
        return [(one.name.removeprefix("models/"), one.input_token_limit) for one in listed]

    def ask(self, *, stream: bool, seconds: float = 30.0) -> Heard:
        said: Any = {"model": MODEL, "contents": "hi", "config": {"http_options": {"timeout": int(seconds * 1000)}}}
        models: Any = self.client.models
        replies = list(models.generate_content_stream(**said)) if stream else [models.generate_content(**said)]
        parts = [part for reply in replies for part in reply.candidates[0].content.parts or ()]
        usage = replies[-1].usage_metadata
        return Heard(
            text="".join(part.text or "" for part in parts if not part.thought),
            reasoning="".join(part.text or "" for part in parts if part.thought),
            signature="".join(part.thought_signature.decode() for part in parts if part.thought_signature),
            calls=tuple((f.id, f.name, f.args) for part in parts if (f := part.function_call)),
            usage=usage and (usage.prompt_token_count, _google_output(usage), usage.cached_content_token_count),
        )


def _google_output(usage: Any) -> int:
    return usage.candidates_token_count + usage.thoughts_token_count


LIBRARIES: Mapping[str, Callable[[ModelServer], OpenAI | Anthropic | Google]] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "google": Google,
}


@contextmanager
def quiet() -> Generator[None]:
    """A library that is compiled for the first time may warn of its own spelling."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def connected(name: str, server: ModelServer) -> Generator[OpenAI | Anthropic | Google]:
    with quiet():
        client = LIBRARIES[name](server)
    with closing(client):
        yield client


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_lists_the_models_with_their_lengths(name: str) -> None:
    offered = (ScriptedModel(id="small", context=4096), ScriptedModel(id="large", context=200_000, output=8192))
    with ModelServer(Script(models=offered)) as server, connected(name, server) as client:
        assert client.models() == [("small", 4096), ("large", 200_000)]
        assert [request.kind for request in server.requests] == ["models"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_hears_all_that_the_script_says(name: str) -> None:
    used = ScriptedUsage(input=100, output=20, cached=30, reasoning=5)
    calls = [call("look", {"at": "é"}, id="first", pieces=4), call("look", {"at": "b"}, id="second")]
    turn = say("Hel", "lo ✓", reasoning=["I ", "see"], calls=calls, usage=used)
    with ModelServer([turn, turn]) as server, connected(name, server) as client:
        for stream in (False, True):
            heard = client.ask(stream=stream)
            assert (heard.text, heard.reasoning, heard.usage) == ("Hello ✓", "I see", (100, 20, 30))
            assert [(id, title) for id, title, _ in heard.calls] == [("first", "look"), ("second", "look")]
            assert [_plain(text) for _, _, text in heard.calls] == [{"at": "é"}, {"at": "b"}]
            assert (name == "anthropic") <= (heard.signature == Turn.signature)
        assert [request.stream for request in server.requests] == [False, True]
        assert {request.key for request in server.requests} == {KEY}
        assert {request.said for request in server.requests} == {"hi"}
        assert {request.model for request in server.requests} == {MODEL}
        assert KEY not in repr(server.requests)


def _plain(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


# What each library makes of a refusal: an error of its own, in the order of LIBRARIES.
REFUSALS: Mapping[str, tuple[Refusal, str]] = {
    "rate limit": (rate_limited(), "RateLimitError RateLimitError ClientError"),
    "broken": (server_error(), "InternalServerError InternalServerError ServerError"),
    "gateway": (gateway_error(), "InternalServerError InternalServerError ServerError"),
    "overloaded": (overloaded_error(), "InternalServerError OverloadedError ServerError"),
    "wrong key": (unauthorized_error(), "AuthenticationError AuthenticationError ClientError"),
    "too long": (context_too_long(), "BadRequestError BadRequestError ClientError"),
    "bad request": (bad_request(), "BadRequestError BadRequestError ClientError"),
    "no such model": (unknown_model(), "NotFoundError NotFoundError ClientError"),
}
# What each makes of a stream that breaks; Anthropic's and Google's let the errors of the layer below through.
CUT = "openai.APIConnectionError httpx2.RemoteProtocolError httpx2.RemoteProtocolError"
BROKEN: Mapping[str, tuple[Turn, str]] = {
    "cut after a piece": (say("a", "b", faults=[Cut(after=1)]), CUT),
    "cut after bytes": (say("a", "b", faults=[Cut(bytes=25)]), CUT),
    "reset after events": (
        say("a", "b", faults=[Cut(events=2, how="reset")]),
        "openai.APIConnectionError httpx2.ReadError httpx2.ReadError",
    ),
    "no answer": (
        say("a", faults=[Hangup()]),
        "openai.APIConnectionError anthropic.APIConnectionError httpx2.RemoteProtocolError",
    ),
    "broken event": (
        say("a", "b", faults=[malformed_event(after=1)]),
        "json.JSONDecodeError json.JSONDecodeError google.UnknownApiResponseError",
    ),
    "error in mid-stream": (
        say("a", "b", faults=[StreamError(after=1)]),
        "openai.APIError anthropic.APIStatusError google.ServerError",
    ),
}


def _expected(name: str, errors: str) -> str:
    """The error of this library out of those of all, and of its own package if none is named."""
    error = errors.split()[list(LIBRARIES).index(name)]
    return error if "." in error else f"{name}.{error}"


def _raised(client: Client, *, stream: bool, seconds: float = 30.0) -> str:
    """The package and the name of what a library raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 (any library's)
        client.ask(stream=stream, seconds=seconds)
    return f"{caught.type.__module__.partition('.')[0]}.{caught.type.__name__}"


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_refusal_is_the_library_s_own_error(name: str) -> None:
    with ModelServer([]) as server, connected(name, server) as client:
        for title, (refusal, expected) in REFUSALS.items():
            server.play(refusal, refusal)
            seen = {_raised(client, stream=stream) for stream in (False, True)}
            assert (title, seen) == (title, {_expected(name, expected)})


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_broken_stream_is_an_error(name: str) -> None:
    with ModelServer([]) as server, connected(name, server) as client:
        for title, (turn, expected) in BROKEN.items():
            server.play(turn)
            assert (title, _raised(client, stream=True)) == (title, _expected(name, expected))


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_server_that_stalls_runs_into_the_time_limit_and_sees_the_client_leave(name: str) -> None:
    late = {"openai": "openai.APITimeoutError", "anthropic": "httpx2.ReadTimeout", "google": "httpx2.ReadTimeout"}
    gate = Gate()
    with ModelServer([say("a", faults=[Stall(gate=gate)])]) as server, connected(name, server) as client:
        assert _raised(client, stream=True, seconds=0.3) == late[name]
        assert gate.wait(0)
        assert server.wait_for_end(0) == "left"


HARMLESS: Mapping[str, tuple[Turn, str]] = {
    "split characters": (say("é→𝄞", "ü", faults=[SplitUtf8()]), "é→𝄞ü"),
    "trickle": (say("né", "b", faults=[Trickle(size=3)]), "néb"),
    "wrong content type": (say("a", "b", faults=[WrongType()]), "ab"),
    "nothing": (say(), ""),
    "an end that comes too early but in good order": (say("a", "b", faults=[Cut(after=1, how="clean")]), "a"),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_is_only_odd_is_heard_all_the_same(name: str) -> None:
    with ModelServer([]) as server, connected(name, server) as client:
        for title, (turn, expected) in HARMLESS.items():
            server.play(turn)
            assert (title, client.ask(stream=True).text) == (title, expected)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_comment_in_the_stream_means_nothing(name: str) -> None:
    with ModelServer([say("a", "b", faults=[comment(after=1)])]) as server, connected(name, server) as client:
        assert client.ask(stream=True).text == "ab"


@pytest.mark.parametrize("name", LIBRARIES)
def test_calls_of_the_same_id_and_arguments_that_are_no_json_arrive_as_they_are(name: str) -> None:
    twins = say(calls=[call("look", {"at": 1}, id="x"), call("look", {"at": 2}, id="x")])
    with ModelServer([twins]) as server, connected(name, server) as client:
        heard = client.ask(stream=True)
        assert [(id, _plain(text)) for id, _, text in heard.calls] == [("x", {"at": 1}), ("x", {"at": 2})]
        if name == "openai":
            server.play(say(calls=[call("look", '{"at": ')]))
            assert [text for _, _, text in client.ask(stream=True).calls] == ['{"at": ']


@pytest.mark.parametrize("name", LIBRARIES)
def test_when_the_script_is_over_the_library_is_told_so(name: str) -> None:
    with ModelServer([]) as server, connected(name, server) as client:
        with pytest.raises(Exception, match="the script has no more turns"):
            client.ask(stream=True)
        assert len(server.requests) == 1


def test_clients_that_try_again_play_the_next_step() -> None:
    with quiet():
        import openai
    with ModelServer([rate_limited(retry_after=0), say("after all")]) as server:
        with openai.OpenAI(base_url=server.openai, api_key=KEY, max_retries=1) as client:
            done = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}])
        assert done.choices[0].message.content == "after all"
        assert server.requests[1].headers["x-stainless-retry-count"] == "1"


def test_vectors_come_through_both_libraries_that_ask_for_them() -> None:
    with quiet():
        import openai
        from google import genai
    with ModelServer(Script(dimensions=16)) as server:
        with openai.OpenAI(base_url=server.openai, api_key=KEY) as client:
            ours: Any = client.embeddings.create(model="vectors", input=["red fox", "blue sky"])
        other: Any = genai.Client(api_key=KEY, http_options={"base_url": server.google})
        theirs: Any = other.models.embed_content(model="vectors", contents=["red fox", "blue sky"])
        other.close()
    first = [entry.embedding for entry in ours.data]
    second = [entry.values for entry in theirs.embeddings]
    assert [len(vector) for vector in first] == [16, 16]
    assert [pytest.approx(vector, abs=1e-6) for vector in second] == first


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
def test_a_turn_reacts_to_the_results_of_tools_in_every_protocol(dialect: Dialect) -> None:
    def react(request: Request) -> Turn:
        return say(f"{request.system}: {[result.text for result in request.results]} of {request.tools}")

    script = Script(steps=[say("so", calls=[call("get_tree")]), react], strict=True)
    with ModelServer(script) as server:
        model, look = gateway_to(server, dialect), user_message("look")
        reply = finished(events_of(model, model_request(dialect, look, system="be"))[0]).reply
        result = Message(role="tool", parts=(ToolResult(call_id=reply.calls[0].id, name="get_tree", text="a tree"),))
        request = model_request(dialect, look, reply, result, system="be")
        assert text_of(events_of(model, request)[0]) == "be: ['a tree'] of ('get_tree',)"
        assert [request.said for request in server.requests] == ["look", "look"]
