"""What a client asked, as a value to assert on, read from a request of any protocol."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from marid.text.json_values import as_object, as_objects, parse_json

ProtocolName: TypeAlias = Literal["openai", "anthropic", "google"]
RequestKind: TypeAlias = Literal["chat", "embeddings", "models", "unknown"]

_GOOGLE_PATH = re.compile(r"/models/(?P<model>[^:]+):(?P<verb>\w+)$")
_GOOGLE_KINDS: Mapping[str, RequestKind] = {
    "generateContent": "chat",
    "streamGenerateContent": "chat",
    "embedContent": "embeddings",
    "batchEmbedContents": "embeddings",
}
_POST_ROUTES: Mapping[str, tuple[ProtocolName, RequestKind]] = {
    "/chat/completions": ("openai", "chat"),
    "/embeddings": ("openai", "embeddings"),
    "/messages": ("anthropic", "chat"),
}


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    """A request as it was on the wire; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, kw_only=True)
class ReceivedResult:
    """The result of a tool; `id` or `name` is empty where the protocol does not send it."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ReceivedPrompt:
    """What each protocol writes differently: `said` is the user's last text, `results` came since the last reply."""

    system: str = field(default="", repr=False)
    said: str = field(default="", repr=False)
    results: tuple[ReceivedResult, ...] = field(default=(), repr=False)
    tools: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class Request(ReceivedPrompt):
    """One request. `number` counts from 0 in order of arrival. Secrets are not in the repr."""

    number: int
    protocol: ProtocolName
    kind: RequestKind
    method: str
    path: str
    model: str
    stream: bool
    query: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: Any = field(repr=False)

    @property
    def key(self) -> str:
        """The API key, wherever the protocol puts it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        named = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
        return named or bearer or self.query.get("key", "")


@dataclass(frozen=True, kw_only=True)
class Route:
    """What a path asks for; `model` if it names one."""

    protocol: ProtocolName
    kind: RequestKind
    model: str = ""


def find_route(method: str, path: str, headers: Mapping[str, str]) -> Route:
    """The route of a request; an unknown path gets the kind unknown and the protocol of its headers."""
    if method == "POST" and (found := _GOOGLE_PATH.search(path)):
        kind = _GOOGLE_KINDS.get(found["verb"], "unknown")
        return Route(protocol="google", kind=kind, model=unquote(found["model"]))
    if method == "POST":
        for ending, (protocol, kind) in _POST_ROUTES.items():
            if path.endswith(ending):
                return Route(protocol=protocol, kind=kind)
    before, listing, model = path.partition("/models")
    kind: RequestKind = "models" if method == "GET" and listing and model[:1] in ("", "/") else "unknown"
    # All three protocols list models at the same path.
    google = "x-goog-api-key" in headers or before.startswith("/v1beta")
    named: ProtocolName = "anthropic" if "anthropic-version" in headers else "google" if google else "openai"
    return Route(protocol=named, kind=kind, model=unquote(model.strip("/")))


def parse_request(raw: RawRequest, number: int) -> Request:
    """The request as a value."""
    url = urlsplit(raw.target)
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    body = parse_json(raw.content)
    fields = as_object(body)
    route = find_route(raw.method, url.path, raw.headers)
    if route.protocol == "google":
        stream = url.path.endswith(":streamGenerateContent") and query.get("alt") == "sse"
    else:
        stream = route.kind == "chat" and fields.get("stream") is True
    return Request(
        number=number,
        protocol=route.protocol,
        kind=route.kind,
        method=raw.method,
        path=url.path,
        model=route.model if route.kind == "models" else route.model or str(fields.get("model", "")),
        stream=stream,
        query=query,
        headers=raw.headers,
        body=body,
        **vars(read_prompt(route.protocol, fields)),
    )


def read_prompt(protocol: ProtocolName, body: Any) -> ReceivedPrompt:
    """The prompt in `body`, which may be any JSON; a malformed body has an empty prompt."""
    readers = {"openai": _openai_prompt, "anthropic": _anthropic_prompt, "google": _google_prompt}
    return readers[protocol](as_object(body))


def _text(content: Any) -> str:
    """Plain text, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in as_objects(content) if isinstance(part.get("text"), str))


def _since_reply(messages: Sequence[dict[str, Any]], role: str) -> Sequence[dict[str, Any]]:
    last = max((at for at, message in enumerate(messages) if message.get("role") == role), default=-1)
    return messages[last + 1 :]


def _first_text(texts: Iterator[str]) -> str:
    return next((text for text in texts if text), "")


def _result(entry: dict[str, Any], id: str) -> ReceivedResult:
    return ReceivedResult(id=str(entry.get(id, "")), name="", text=_text(entry.get("content")))


def _openai_prompt(body: dict[str, Any]) -> ReceivedPrompt:
    messages = as_objects(body.get("messages"))
    results = (m for m in _since_reply(messages, "assistant") if m.get("role") == "tool")
    return ReceivedPrompt(
        system="\n".join(_text(m.get("content")) for m in messages if m.get("role") in ("system", "developer")),
        said=_first_text(_text(m.get("content")) for m in reversed(messages) if m.get("role") == "user"),
        results=tuple(_result(message, "tool_call_id") for message in results),
        tools=tuple(str(as_object(tool.get("function")).get("name", "")) for tool in as_objects(body.get("tools"))),
    )


def _anthropic_prompt(body: dict[str, Any]) -> ReceivedPrompt:
    messages = as_objects(body.get("messages"))
    blocks = (b for m in _since_reply(messages, "assistant") for b in as_objects(m.get("content")))
    return ReceivedPrompt(
        system=_text(body.get("system")),
        said=_first_text(_text(m.get("content")) for m in reversed(messages) if m.get("role") == "user"),
        results=tuple(_result(block, "tool_use_id") for block in blocks if block.get("type") == "tool_result"),
        tools=tuple(str(tool.get("name", "")) for tool in as_objects(body.get("tools"))),
    )


def _google_prompt(body: dict[str, Any]) -> ReceivedPrompt:
    contents = as_objects(body.get("contents"))
    parts = [p for c in _since_reply(contents, "model") for p in as_objects(c.get("parts"))]
    declared = [f for tool in as_objects(body.get("tools")) for f in as_objects(tool.get("functionDeclarations"))]
    return ReceivedPrompt(
        system=_text(as_object(body.get("systemInstruction")).get("parts")),
        said=_first_text(_text(c.get("parts")) for c in reversed(contents) if c.get("role") != "model"),
        results=tuple(_google_result(as_object(p["functionResponse"])) for p in parts if "functionResponse" in p),
        tools=tuple(str(function.get("name", "")) for function in declared),
    )


def _google_result(response: dict[str, Any]) -> ReceivedResult:
    """In this protocol results are objects; one with a single text is that text."""
    values = list(as_object(response.get("response")).values())
    text = values[0] if len(values) == 1 and isinstance(values[0], str) else json.dumps(response.get("response"))
    return ReceivedResult(id=str(response.get("id", "")), name=str(response.get("name", "")), text=text)
