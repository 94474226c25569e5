"""Which protocol a request speaks and what it wants, told from its path, and its headers where paths are the same."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from marid.testing.http1 import RawRequest
from marid.testing.prompt_reader import read_prompt
from marid.testing.request import ProtocolName, Request, RequestKind
from marid.text.json_values import as_object, parse_json

GOOGLE = re.compile(r"/models/(?P<model>[^:]+):(?P<verb>\w+)$")
GOOGLE_KINDS: Mapping[str, RequestKind] = {
    "generateContent": "chat",
    "streamGenerateContent": "chat",
    "embedContent": "embeddings",
    "batchEmbedContents": "embeddings",
}
POST_ROUTES: Mapping[str, tuple[ProtocolName, RequestKind]] = {
    "/chat/completions": ("openai", "chat"),
    "/embeddings": ("openai", "embeddings"),
    "/messages": ("anthropic", "chat"),
}


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where a request goes; `model` if the path names one."""

    protocol: ProtocolName
    kind: RequestKind
    model: str = ""


def route(method: str, path: str, headers: Mapping[str, str]) -> Route:
    """The way a request goes; one to nowhere is of kind unknown, in the protocol that its headers speak."""
    if method == "POST" and (found := GOOGLE.search(path)):
        kind = GOOGLE_KINDS.get(found["verb"], "unknown")
        return Route(protocol="google", kind=kind, model=unquote(found["model"]))
    if method == "POST":
        for ending, (protocol, kind) in POST_ROUTES.items():
            if path.endswith(ending):
                return Route(protocol=protocol, kind=kind)
    before, listing, model = path.partition("/models")
    kind: RequestKind = "models" if method == "GET" and listing and model[:1] in ("", "/") else "unknown"
    return Route(protocol=_protocol_of(before, headers), kind=kind, model=unquote(model.strip("/")))


def read_request(received: RawRequest, number: int) -> Request:
    """The request as a value."""
    address = urlsplit(received.target)
    query = dict(parse_qsl(address.query, keep_blank_values=True))
    body = parse_json(received.content)
    way = route(received.method, address.path, received.headers)
    return Request(
        number=number,
        protocol=way.protocol,
        kind=way.kind,
        method=received.method,
        path=address.path,
        model=way.model if way.kind == "models" else way.model or str(as_object(body).get("model", "")),
        stream=_is_stream(way, address.path, query, body),
        query=query,
        headers=received.headers,
        body=body,
        prompt=read_prompt(way.protocol, body),
    )


def _is_stream(way: Route, path: str, query: Mapping[str, str], body: Any) -> bool:
    if way.protocol == "google":
        return path.endswith(":streamGenerateContent") and query.get("alt") == "sse"
    return way.kind == "chat" and as_object(body).get("stream") is True


def _protocol_of(before: str, headers: Mapping[str, str]) -> ProtocolName:
    """All three list models under the same name."""
    if "anthropic-version" in headers:
        return "anthropic"
    return "google" if "x-goog-api-key" in headers or before.startswith("/v1beta") else "openai"
