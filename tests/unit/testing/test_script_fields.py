"""Values of a script's fields."""

from collections.abc import Callable
from typing import Any

import pytest

from marid.core.errors import BadInput
from marid.testing.faults import Cut, Refusal, Stall, Trickle, WrongType
from marid.testing.script import Script, ScriptedModel, ScriptedUsage, Turn, call
from marid.testing.script_fields import check_fields

GOOD: list[tuple[Callable[..., object], dict[str, Any]]] = [
    (Cut, {"after": 0, "events": None, "bytes": 10, "how": "reset"}),
    (Trickle, {"size": 1, "pause": 0}),
    (Trickle, {"pause": 0.5}),
    (Refusal, {"status": None, "retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    (Refusal, {"status": 599, "retry_after": 0.5, "headers": {"x-a": "b"}, "message": "two\nlines"}),
    (call, {"name": "f", "arguments": {"a": [1]}, "pieces": 3}),
    (call, {"name": "f", "arguments": "no JSON"}),
    (Script, {"repeat": True, "key": None, "reasoning_field": "reasoning", "models": [ScriptedModel(id="m")]}),
    (Turn, {"usage": ScriptedUsage(), "finish": None}),
    (Stall, {"before_headers": True, "unknown": object()}),
]


@pytest.mark.parametrize(("kind", "fields"), GOOD)
def test_what_fits_is_taken_and_unknown_names_are_left_to_the_call(
    kind: Callable[..., object], fields: dict[str, Any]
) -> None:
    check_fields(kind, fields, "here")


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
def test_what_does_not_fit_is_told_with_what_would(
    kind: Callable[..., object], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as told:
        check_fields(kind, fields, "here")
    assert str(told.value).startswith(message)


def test_a_field_of_the_whole_is_named_alone() -> None:
    with pytest.raises(BadInput, match=r"^key: "):
        check_fields(Script, {"key": 5}, "")
