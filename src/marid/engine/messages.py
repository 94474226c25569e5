"""Turns as a provider takes them: every call with its result directly after it, whatever the history holds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import cast

from marid.core.chat import Message, Part, Reasoning, Text, ToolCall, ToolResult, said
from marid.core.entry import FAILED, INTERRUPTED, THOUGHTS, Entry
from marid.engine.turns import Made, Reply, Said, Turn

LOST = "interrupted: this call has no result, and nobody knows whether it happened"
GO_ON = "[Your answer broke off here. Go on where it stopped.]"
EARLIER = "[The beginning of this conversation is not shown.]"
SEAL = "seal"
"""A key of metadata: what the model's provider wants back with an entry."""
PROMPT = "prompt"
"""What somebody has said, without what we put around it."""

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_MOST_NAME = 64
_BROKE_OFF = (FAILED, INTERRUPTED)


def messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """What is sent. It begins with words of a user and does not end with words of the model."""
    made = [message for turn, current in _dated(turns) for message in _messages(turn, current=current)]
    if made and made[0].role != "user":
        made.insert(0, said(EARLIER, ""))
    if made and made[-1].role == "assistant":
        made.append(said(GO_ON, ""))
    return tuple(made)


def parsed(arguments: str) -> dict[str, object] | None:
    """The arguments of a call; none at all are an empty object, and None means that the text is no object."""
    if not arguments.strip():
        return {}
    try:
        found: object = _DECODER.decode(arguments)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def _number(text: str) -> float:
    """Python reads and writes numbers that no JSON has, and no service takes a history with one. Raises: ValueError."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"'{text}' is no number of JSON")
    return value


_DECODER = json.JSONDecoder(parse_constant=_number, parse_float=_number)


def _dated(turns: Sequence[Turn]) -> Iterator[tuple[Turn, bool]]:
    """Whether a turn belongs to the last work with tools, or comes after all words of the user.

    Only there providers want thoughts back; of an older answer some do not even take them.
    """
    spoken = [place for place, turn in enumerate(turns) if isinstance(turn, Said)]
    replies = [place for place, turn in enumerate(turns) if isinstance(turn, Reply)]
    last = turns[replies[-1]] if replies else None
    if isinstance(last, Reply) and last.calls:
        spoken = [place for place in spoken if place < replies[-1]]
    begin = spoken[-1] if spoken else -1
    return ((turn, place > begin) for place, turn in enumerate(turns))


def _messages(turn: Turn, *, current: bool) -> Iterator[Message]:
    if isinstance(turn, Said):
        if turn.entry.content.strip():
            prompt = turn.entry.metadata.get(PROMPT)
            yield said(_sound(turn.entry.content), prompt if isinstance(prompt, str) else None)
        return
    parts = tuple(_parts(turn, current=current))
    if any(not isinstance(part, Reasoning) for part in parts):
        yield Message(role="assistant", parts=parts)
    if turn.calls:
        yield Message(role="tool", parts=tuple(_result(call) for call in turn.calls))


def _parts(reply: Reply, *, current: bool) -> Iterator[Part]:
    begun = ""
    for entry in reply.words:
        if current:
            yield from _thoughts(entry)
        text, begun = begun + entry.content, ""
        if entry.status in _BROKE_OFF and entry is not reply.words[-1]:
            begun = text  # it was gone on with, maybe in the middle of a word
        elif text.strip():
            yield Text(text=_sound(text), seal=_seal(entry.metadata))
    for call in reply.calls:
        if current:
            yield from _thoughts(call.entry)
        yield ToolCall(
            id=call.id, name=_name(call), arguments=_arguments(call.entry.content), seal=_seal(call.entry.metadata)
        )


def _thoughts(entry: Entry) -> Iterator[Reasoning]:
    """Those that have a seal: without one no provider takes a thought back as what it is."""
    kept = entry.metadata.get(THOUGHTS)
    for thought in cast("list[object]", kept) if isinstance(kept, list) else []:
        if isinstance(thought, dict):
            fields = cast("Mapping[str, object]", thought)
            text, seal = fields.get("text"), _seal(fields)
            if isinstance(text, str) and seal:
                yield Reasoning(text=_sound(text), seal=seal)


def _seal(fields: Mapping[str, object]) -> str:
    seal = fields.get(SEAL)
    return seal if isinstance(seal, str) else ""


def _arguments(text: str) -> str:
    """As the model wrote them where that is an object: services fail on a history with anything else."""
    if not text.strip():
        return "{}"
    return _sound(text) if parsed(text) is not None else json.dumps({"unparsable": _sound(text)}, ensure_ascii=False)


def _result(call: Made) -> ToolResult:
    if call.result is None:
        return ToolResult(call=call.id, name=_name(call), text=LOST, failed=True)
    failed = call.result.status in _BROKE_OFF
    return ToolResult(call=call.id, name=_name(call), text=_sound(call.result.content), failed=failed)


def _name(call: Made) -> str:
    """As services take it: a model may have made it up."""
    return "".join(letter if letter in _LETTERS else "_" for letter in call.name[:_MOST_NAME])


def _sound(text: str) -> str:
    """Without halves of characters, which names of files and command lines may hold and no wire carries."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
