"""Whether a provider would accept a conversation."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from marid.testing.history_check import find_flaw
from marid.testing.request import Request

Ask = Callable[..., Request]


def openai(*moves: str) -> Any:
    made: dict[str, Callable[[list[str]], list[Any]]] = {
        "say": lambda _: [{"role": "user", "content": "hi"}],
        "call": lambda ids: [{"role": "assistant", "tool_calls": [{"id": id} for id in ids]}],
        "give": lambda ids: [{"role": "tool", "tool_call_id": id} for id in ids],
    }
    return {"messages": [message for move in moves for message in made[move.split()[0]](move.split()[1:])]}


def anthropic(*moves: str) -> Any:
    made: dict[str, Callable[[list[str]], Any]] = {
        "say": lambda _: {"role": "user", "content": "hi"},
        "call": lambda ids: {"role": "assistant", "content": [{"type": "tool_use", "id": id} for id in ids]},
        "give": lambda ids: {
            "role": "user",
            "content": [*({"type": "tool_result", "tool_use_id": id} for id in ids), {"type": "text", "text": "also"}],
        },
    }
    return {"messages": [made[move.split()[0]](move.split()[1:]) for move in moves]}


def google(*moves: str) -> Any:
    made: dict[str, Callable[[list[str]], Any]] = {
        "say": lambda _: [{"text": "hi"}],
        "call": lambda ids: [{"functionCall": {"name": id}} for id in ids],
        "give": lambda ids: [{"functionResponse": {"name": id}} for id in ids],
    }
    return {"contents": [{"parts": made[move.split()[0]](move.split()[1:])} for move in moves]}


PROTOCOLS = {"openai": openai, "anthropic": anthropic, "google": google}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "moves",
    [
        [],
        ["say"],
        ["say", "call a b", "give b a", "say"],
        ["say", "call a", "give a", "call a", "give a"],
        ["say", "call a a", "give a a"],
    ],
)
def test_calls_with_their_results_are_accepted(ask: Ask, protocol: str, moves: Sequence[str]) -> None:
    assert find_flaw(ask(protocol, PROTOCOLS[protocol](*moves))) == ""


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("moves", "said"),
    [
        (["say", "call a b"], "calls ['a', 'b'] have no results"),
        (["say", "call a b", "give a"], "results for ['a'] follow calls ['a', 'b']"),
        (["say", "call a", "say", "give a"], "calls ['a'] are not followed by their results"),
        (["say", "call a", "call b"], "calls ['a'] are not followed by their results"),
        (["give a"], "results for ['a'] follow calls []"),
    ],
)
def test_a_call_without_its_result_is_not(ask: Ask, protocol: str, moves: Sequence[str], said: str) -> None:
    assert find_flaw(ask(protocol, PROTOCOLS[protocol](*moves))) == said
