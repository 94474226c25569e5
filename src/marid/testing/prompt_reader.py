"""Reads what a client said out of a body of any protocol; a body that makes no sense reads as silence."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from marid.testing.request import ProtocolName, ReceivedPrompt, ReceivedResult
from marid.text.json_values import as_object, as_objects


def read_prompt(protocol: ProtocolName, body: Any) -> ReceivedPrompt:
    """The prompt in `body`, which may be any JSON."""
    readers = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    return readers[protocol](as_object(body))


def _text(content: Any) -> str:
    """Plain text, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in as_objects(content) if isinstance(part.get("text"), str))


def _since_reply(messages: Sequence[dict[str, Any]], reply: str) -> Sequence[dict[str, Any]]:
    last = max((place for place, message in enumerate(messages) if message.get("role") == reply), default=-1)
    return messages[last + 1 :]


def _last_text(texts: Iterator[str]) -> str:
    return next((text for text in texts if text), "")


def _openai(body: dict[str, Any]) -> ReceivedPrompt:
    messages = as_objects(body.get("messages"))
    system = (_text(m.get("content")) for m in messages if m.get("role") in ("system", "developer"))
    users = (_text(m.get("content")) for m in reversed(messages) if m.get("role") == "user")
    results = (m for m in _since_reply(messages, "assistant") if m.get("role") == "tool")
    return ReceivedPrompt(
        system="\n".join(system),
        said=_last_text(users),
        results=tuple(
            ReceivedResult(id=str(m.get("tool_call_id", "")), name="", text=_text(m.get("content"))) for m in results
        ),
        tools=tuple(str(as_object(tool.get("function")).get("name", "")) for tool in as_objects(body.get("tools"))),
    )


def _anthropic(body: dict[str, Any]) -> ReceivedPrompt:
    messages = as_objects(body.get("messages"))
    blocks = [b for m in _since_reply(messages, "assistant") for b in as_objects(m.get("content"))]
    results = (b for b in blocks if b.get("type") == "tool_result")
    return ReceivedPrompt(
        system=_text(body.get("system")),
        said=_last_text(_text(m.get("content")) for m in reversed(messages) if m.get("role") == "user"),
        results=tuple(
            ReceivedResult(id=str(b.get("tool_use_id", "")), name="", text=_text(b.get("content"))) for b in results
        ),
        tools=tuple(str(tool.get("name", "")) for tool in as_objects(body.get("tools"))),
    )


def _google(body: dict[str, Any]) -> ReceivedPrompt:
    contents = as_objects(body.get("contents"))
    parts = [p for c in _since_reply(contents, "model") for p in as_objects(c.get("parts"))]
    declared = [f for tool in as_objects(body.get("tools")) for f in as_objects(tool.get("functionDeclarations"))]
    return ReceivedPrompt(
        system=_text(as_object(body.get("systemInstruction")).get("parts")),
        said=_last_text(_text(c.get("parts")) for c in reversed(contents) if c.get("role") != "model"),
        results=tuple(_google_result(as_object(p["functionResponse"])) for p in parts if "functionResponse" in p),
        tools=tuple(str(function.get("name", "")) for function in declared),
    )


def _google_result(response: dict[str, Any]) -> ReceivedResult:
    """The protocol has objects for results; one with a single text is that text."""
    values = list(as_object(response.get("response")).values())
    text = values[0] if len(values) == 1 and isinstance(values[0], str) else json.dumps(response.get("response"))
    return ReceivedResult(id=str(response.get("id", "")), name=str(response.get("name", "")), text=text)
