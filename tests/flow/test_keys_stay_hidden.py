"""A provider's key is sent to the provider, and stands nowhere else: in no output, message, log or transcript."""

import json
import os
from pathlib import Path

import pytest

from fakes.program import Program, marid
from marid.testing import Insert, ModelServer, always, bad_request, call, say, server_error, unauthorized_error

__all__ = ["marid"]

KEY = "sk-or-canary-0123456789abcdef"
KEYLESS = {"authorization": "", "x-api-key": "", "x-goog-api-key": ""}
OTHER = "sk-other-canary-9876543210fedcba"


def settings(url: str) -> str:
    return f'api_key = "{KEY}"\nbase_url = "{url}"\nmodel = "m"\n\n[providers.two]\napi_key = "{OTHER}"\n'


def home() -> Path:
    place = Path(os.environ["MARID_HOME"])
    place.mkdir(exist_ok=True)
    return place


def leaks(*texts: str) -> list[str]:
    """Where a key stands, in texts or in files of the home that are no settings."""
    files = [path for path in home().rglob("*") if path.is_file() and path.suffix != ".toml"]
    found = [str(path) for path in files if any(key.encode() in path.read_bytes() for key in (KEY, OTHER))]
    return [*found, *(text for text in texts if KEY in text or OTHER in text)]


@pytest.mark.parametrize(
    "args",
    [
        ("config", "show"),
        ("config", "show", "--origin"),
        ("config", "show", "--json"),
        ("config", "path"),
        ("inspect", "api_key"),
        ("inspect", "list"),
        ("inspect", "providers.two.api_key"),
        ("-n", "api_key"),
        ("-s", f"api_key={KEY}", "-s", "fuel=x", "hi"),
        ("-s", f"apikey={KEY}", "hi"),
        ("conversations", "--json"),
    ],
)
def test_what_is_shown_of_settings_holds_no_key(marid: Program, args: tuple[str, ...]) -> None:
    (home() / "config.toml").write_text(settings("http://127.0.0.1:9/v1"))
    done = marid(*args)
    assert leaks(done.text, done.err) == []


@pytest.mark.parametrize(
    "text",
    [
        f"api_key = {KEY}\n",
        f'api_key = ["{KEY}"]\n',
        f'api_key = "{KEY}\n',
        f'apikey = "{KEY}"\n',
        f'api = "{KEY}"\n',
        f'[providers.x]\napi_key = {{a = "{KEY}"}}\n',
        f'[providers]\nx = "{KEY}"\n',
        f'base_url = "http://u:{KEY}@127.0.0.1:9/v1"\n',
        f'base_url = "http://127.0.0.1:9/v1?key={KEY}"\n',
    ],
)
def test_a_settings_file_that_is_wrong_is_told_of_without_the_key(marid: Program, text: str) -> None:
    (home() / "config.toml").write_text(text)
    shown = [marid("config", "show", *more) for more in ((), ("--json",), ("--origin",))]
    assert leaks(*(one.text + one.err for one in shown)) == []


def test_neither_rounds_nor_failures_nor_logs_hold_the_key(marid: Program) -> None:
    steps = [
        unauthorized_error(),
        bad_request(f"no: {KEY}"),
        server_error(),
        say(calls=[call("read_file", {"path": str(home() / "config.toml")})]),
        say("done"),
    ]
    with ModelServer(steps) as server:
        (home() / "config.toml").write_text(settings(server.openai))
        debug = ("--debug", "request-log,response-meta")
        done = [marid.apart(*debug, "-v", "say", f"hello, not {OTHER}") for _ in range(3)]
        asked = {"command": {"send_prompt": {"prompt": "x"}}, "context": "a", "flags": {"debug": ["all"]}}
        done.append(marid.apart("json", given=json.dumps(asked).encode()))
        assert server.requests[0].key == KEY
    assert [one.code for one in done][:2] != [0, 0]
    assert (home() / "contexts" / "default" / "requests.jsonl").exists()
    # What a person has said stands in the transcript as it was said.
    kept = ("active.jsonl", "context.jsonl", "context_meta.json")
    said = [str(path) for path in home().rglob("*.json*") if path.name in kept]
    assert [leak for leak in leaks(*(one.text + one.err for one in done)) if leak not in said] == []


@pytest.mark.parametrize("dialect", ["openai", "openrouter", "anthropic", "google"])
def test_the_libraries_say_nothing_and_send_nothing_of_their_own(marid: Program, dialect: str) -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    odd = {**head, "choices": [{"index": 0, "delta": {"content": {"k": KEY}}}]}
    fault = Insert(data=f"data: {json.dumps(odd)}\n\n".encode())
    environment = {
        **{f"{name}_LOG": "debug" for name in ("OPENAI", "ANTHROPIC")},
        **{f"{name}_CUSTOM_HEADERS": f"X-Mine: {OTHER}\nUser-Agent: {OTHER}" for name in ("OPENAI", "ANTHROPIC")},
        **dict.fromkeys(("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_AUTH_TOKEN"), OTHER),
    }
    asked = {"command": {"send_prompt": {"prompt": "x"}}, "context": "a"}
    with ModelServer([always(say("fine", faults=[fault] if dialect.startswith("open") else []))]) as server:
        urls = {"anthropic": server.anthropic, "google": server.google}
        url = urls.get(dialect, server.openai)
        config = {"provider": dialect, "base_url": url, "model": "m", "api_key": KEY}
        given = json.dumps({**asked, "config": config}).encode()
        done = marid.apart("json", given=given, environment=environment)
        heads = [dict(request.headers) for request in server.requests]
    assert [json.loads(line)["type"] for line in done.err.splitlines()][-1] == "done"
    assert leaks(done.text, done.err, *map(str, ({**head, **KEYLESS} for head in heads))) == []
