"""Check that a provider would accept a conversation: all results directly follow their calls."""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeAlias

from marid.testing.request import ProtocolName, Request
from marid.text.json_values import as_object, as_objects

# What a message holds (calls, results or text), and the ids of those calls.
ToolStep: TypeAlias = tuple[str, list[str]]


def find_flaw(request: Request) -> str:
    """What a provider would reject, or ""."""
    waiting: list[str] = []
    for kind, ids in _join_results(STEP_READERS[request.protocol](as_object(request.body))):
        if kind == "results":
            if sorted(ids) != sorted(waiting):
                return f"results for {ids} follow calls {waiting}"
            waiting = []
        elif waiting:
            return f"calls {waiting} are not followed by their results"
        elif kind == "calls":
            waiting = ids
    return f"calls {waiting} have no results" if waiting else ""


def _join_results(steps: Iterator[ToolStep]) -> Iterator[ToolStep]:
    """Join results that come in consecutive messages."""
    for kind, group in groupby(steps, key=lambda step: step[0]):
        if kind == "results":
            yield kind, [id for _, ids in group for id in ids]
        else:
            yield from group


def _tool_step(calls: list[str], results: list[str]) -> ToolStep:
    return ("calls", calls) if calls else ("results", results) if results else ("text", [])


def _openai(body: dict[str, Any]) -> Iterator[ToolStep]:
    for message in as_objects(body.get("messages")):
        calls = [str(call.get("id")) for call in as_objects(message.get("tool_calls"))]
        yield _tool_step(calls, [str(message.get("tool_call_id"))] if message.get("role") == "tool" else [])


def _anthropic(body: dict[str, Any]) -> Iterator[ToolStep]:
    for message in as_objects(body.get("messages")):
        blocks = as_objects(message.get("content"))
        calls = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        yield _tool_step(calls, results)


def _google(body: dict[str, Any]) -> Iterator[ToolStep]:
    """Ids are optional here, so names of tools are compared."""
    for content in as_objects(body.get("contents")):
        parts = as_objects(content.get("parts"))
        calls = [str(as_object(part["functionCall"]).get("name")) for part in parts if "functionCall" in part]
        results = [str(as_object(part["functionResponse"]).get("name")) for part in parts if "functionResponse" in part]
        yield _tool_step(calls, results)


STEP_READERS: Mapping[ProtocolName, Callable[[dict[str, Any]], Iterator[ToolStep]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}
