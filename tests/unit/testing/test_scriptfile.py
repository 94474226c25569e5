"""A script as JSON."""

import json
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from marid.core.errors import BadInput
from marid.testing import scriptfile
from marid.testing.faults import (
    Cut,
    Fault,
    Gate,
    Hangup,
    Insert,
    Refusal,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
    comment,
    malformed_event,
)
from marid.testing.request import Request
from marid.testing.script import ConditionalStep, Script, ScriptedModel, ScriptedUsage, call, say
from marid.testing.scriptfile import FAULTS, check_fields, read_script

Ask = Callable[..., Request]


def read(**fields: Any) -> Script:
    return read_script(json.dumps(fields))


def test_the_example_in_the_documentation_is_a_script(ask: Ask) -> None:
    text = textwrap.dedent((scriptfile.__doc__ or "").split("\n\n")[1])
    script = read_script(text)
    big = ScriptedModel(id="big", context=200_000, output=8192, name="Big")
    assert script.models == [ScriptedModel(id="tiny"), big]
    assert (script.reasoning_field, script.dimensions) == ("reasoning", 8)
    assert (script.key, script.repeat) == ("only-this-one", True)
    *plain, last = script.steps
    assert plain == [
        say("a reply in one piece"),
        say("in ", "pieces", reasoning=["I ", "see"], finish="length", usage=ScriptedUsage(input=9, output=2)),
        say(calls=[call("get_tree", {"path": "."}, id="call_1", pieces=3)]),
        say("slow", faults=[Trickle(size=4, pause=0.05)]),
        Refusal(kind="rate_limit", retry_after=1),
        Refusal(kind="server", status=502, message="why"),
    ]
    assert isinstance(last, ConditionalStep)
    assert last.times is None
    asking = ask("openai", {"messages": [{"role": "user", "content": "who said it?"}]})
    assert (last.predicate(asking), last.predicate(ask())) == (True, False)


def test_a_match_without_always_holds_once() -> None:
    (step,) = read(turns=[{"text": "a", "match": "b", "usage": None}]).steps
    assert isinstance(step, ConditionalStep)
    assert (step.times, step.step) == (1, say("a", usage=None))


def test_every_fault_can_be_named() -> None:
    named: dict[str, tuple[dict[str, Any], Fault]] = {
        "cut": ({"events": 2, "how": "reset"}, Cut(events=2, how="reset")),
        "hangup": ({}, Hangup()),
        "insert": ({"data": "é", "after": 1}, Insert(data="é".encode(), after=1)),
        "malformed": ({"after": 1}, malformed_event(after=1)),
        "comment": ({"text": "t"}, comment("t")),
        "stream_error": ({"error": "rate_limit", "after": 2}, StreamError(refusal=Refusal(kind="rate_limit"), after=2)),
        "split_utf8": ({}, SplitUtf8()),
        "trickle": ({}, Trickle()),
        "wrong_type": ({"kind": "text/plain"}, WrongType(kind="text/plain")),
    }
    assert {*named, "stall"} == set(FAULTS)
    turn = {"text": "a", "faults": [{name: fields} for name, (fields, _) in named.items()]}
    assert read(turns=[turn]).steps[0] == say("a", faults=[fault for _, fault in named.values()])
    (stalling,) = read(turns=[{"faults": [{"stall": {"after": 3}}]}]).steps
    assert "Stall(" in repr(stalling)
    assert Stall(gate=Gate(), after=3).after == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"steps": ["hi"]}', "use `turns`"),
        ('{"turns": [], "steps": ["hi"]}', "use `turns`"),
        ("{", "the script is not JSON"),
        ("[]", "the script: an object is expected"),
        ('{"turns": {}}', "turns: a list is expected"),
        ('{"turns": [1]}', r"turns\[0\]: an object is expected"),
        ('{"turn": []}', "the script: got an unexpected keyword argument 'turn'"),
        ('{"turns": [{"texts": "a"}]}', r"turns\[0\]: got an unexpected keyword argument 'texts'"),
        ('{"turns": [{"text": 1}]}', r"turns\[0\].text: a list is expected"),
        ('{"turns": [{"calls": [{}]}]}', r"turns\[0\].calls\[0\]: missing 1 required positional argument: 'name'"),
        ('{"turns": [{"error": "odd"}]}', r"turns\[0\].error: 'odd' is not one of rate_limit, "),
        ('{"turns": [{"faults": [{"odd": {}}]}]}', r"turns\[0\].faults\[0\]: one name is expected, of stall, "),
        ('{"turns": [{"faults": [{}]}]}', r"turns\[0\].faults\[0\]: one name"),
        ('{"turns": [{"usage": {"in": 1}}]}', r"turns\[0\].usage: got an unexpected keyword argument 'in'"),
        ('{"turns": [{"text": ["a", 1]}]}', r"turns\[0\].text: a text or a list of texts is expected"),
        ('{"turns": [{"text": "a", "match": 5}]}', r"turns\[0\].match: a text or null is expected"),
        ('{"turns": [{"text": "a", "always": 1}]}', r"turns\[0\].always: true or false is expected"),
        ('{"turns": [{"faults": [{"cut": {"after": "x"}}]}]}', r"turns\[0\].faults\[0\].cut.after: a whole number"),
        ('{"turns": [{"faults": [{"insert": {"data": 5}}]}]}', r"turns\[0\].faults\[0\].insert.data: a text"),
        ('{"key": 5}', "^key: a text or null is expected"),
        ('{"turns": ["\\ud800"]}', "half of a character"),
        ("[" * 100_000, "the script is not JSON"),
        ('{"models": [{"name": "n"}]}', r"models\[0\]: missing 1 required keyword-only argument: 'id'"),
    ],
)
def test_an_error_names_its_place(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_script(text)


BAD: list[tuple[Callable[..., object], dict[str, Any], str]] = [
    (Cut, {"after": "x"}, "here.after: a whole number of at least 0 is expected"),
    (Cut, {"after": -1}, "here.after: a whole number of at least 0 is expected"),
    (Cut, {"after": True}, "here.after: a whole number"),
    (Cut, {"events": 1.5}, "here.events: a whole number of at least 0 or null is expected"),
    (Cut, {"how": "rudely"}, "here.how: close or reset or clean is expected"),
    (Cut, {"how": []}, "here.how: close"),
    (Trickle, {"size": 0}, "here.size: a whole number of at least 1 is expected"),
    (Trickle, {"pause": float("nan")}, "here.pause: a number from 0 to 86400 is expected"),
    (Trickle, {"pause": "y"}, "here.pause: a number"),
    (Refusal, {"status": "x"}, "here.status: a whole number from 200 to 599 or null is expected"),
    (Refusal, {"status": 99999}, "here.status: a whole number from 200"),
    (Refusal, {"retry_after": "a\r\nb: c"}, "here.retry_after: a number of at least 0 or a line of ASCII or null"),
    (Refusal, {"headers": {"a": 1}}, "here.headers: an object of texts is expected"),
    (Refusal, {"headers": {"a\nb": "c"}}, "here.headers: an object of texts"),
    (WrongType, {"kind": "a\r\nb: c"}, "here.kind: a line of ASCII is expected"),
    (call, {"name": 5}, "here.name: a text is expected"),
    (call, {"arguments": [1]}, "here.arguments: an object or a text is expected"),
    (ScriptedUsage, {"input": "x"}, "here.input: a whole number"),
    (Script, {"strict": "yes"}, "here.strict: true or false is expected"),
    (Script, {"dimensions": 10**9}, "here.dimensions: a whole number from 1 to 100000 is expected"),
    (Stall, {"gate": 5}, "here.gate: nothing, as a file cannot name it, is expected"),
]


@pytest.mark.parametrize(("kind", "fields", "message"), BAD)
def test_an_invalid_value_is_an_error_that_says_what_is_expected(
    kind: Callable[..., object], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as caught:
        check_fields(kind, fields, "here")
    assert str(caught.value).startswith(message)
