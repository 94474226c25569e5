"""Requests to a model: turns as messages, every call with its result after it, and whether they fit into its window."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from marid.core.conversation.entry import FAILED, INTERRUPTED, THOUGHTS, Entry
from marid.core.errors import Exhausted
from marid.core.model_io import (
    Message,
    MessagePart,
    ModelRequest,
    Parameters,
    Reasoning,
    Text,
    ToolCall,
    ToolOffer,
    ToolResult,
    request_tokens,
    user_message,
)
from marid.core.round_events import WindowWarning
from marid.engine.turns import CallRecord, Reply, Turn, UserTurn

LOST_RESULT = "interrupted: this call has no result; it may or may not have run"
CONTINUE_NOTE = "[Your answer was cut off here. Continue where it stopped.]"
OMITTED_NOTE = "[The beginning of this conversation is not shown.]"
SEAL = "seal"
"""A key of metadata: what the model's provider wants back with an entry."""
PROMPT_KEY = "prompt"
"""A key of metadata: a prompt without what the program added."""

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_MAX_NAME = 64
_INCOMPLETE = (FAILED, INTERRUPTED)


def provider_messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """The messages to send. The first is a user's, the last is not the model's."""
    made = [message for turn, current in _mark_current(turns) for message in _turn_messages(turn, current=current)]
    if made and made[0].role != "user":
        made.insert(0, user_message(OMITTED_NOTE, ""))
    if made and made[-1].role == "assistant":
        made.append(user_message(CONTINUE_NOTE, ""))
    return tuple(made)


def _mark_current(turns: Sequence[Turn]) -> Iterator[tuple[Turn, bool]]:
    """Mark the turns of the last tool use, and those after the last prompt.

    Providers want reasoning back only there; some reject it in older replies.
    """
    spoken = [place for place, turn in enumerate(turns) if isinstance(turn, UserTurn)]
    replies = [place for place, turn in enumerate(turns) if isinstance(turn, Reply)]
    last = turns[replies[-1]] if replies else None
    if isinstance(last, Reply) and last.calls:
        spoken = [place for place in spoken if place < replies[-1]]
    begin = spoken[-1] if spoken else -1
    return ((turn, place > begin) for place, turn in enumerate(turns))


def _turn_messages(turn: Turn, *, current: bool) -> Iterator[Message]:
    if isinstance(turn, UserTurn):
        if turn.entry.content.strip():
            prompt = turn.entry.metadata.get(PROMPT_KEY)
            yield user_message(_replace_surrogates(turn.entry.content), prompt if isinstance(prompt, str) else None)
        return
    parts = tuple(_parts(turn, current=current))
    if any(not isinstance(part, Reasoning) for part in parts):
        yield Message(role="assistant", parts=parts)
    if turn.calls:
        yield Message(role="tool", parts=tuple(_tool_result(call) for call in turn.calls))


def _parts(reply: Reply, *, current: bool) -> Iterator[MessagePart]:
    begun = ""
    for entry in reply.text_entries:
        if current:
            yield from _sealed_thoughts(entry)
        text, begun = begun + entry.content, ""
        if entry.status in _INCOMPLETE and entry is not reply.text_entries[-1]:
            begun = text  # it was continued, maybe in the middle of a word
        elif text.strip():
            yield Text(text=_replace_surrogates(text), seal=_seal(entry.metadata))
    for call in reply.calls:
        if current:
            yield from _sealed_thoughts(call.entry)
        yield ToolCall(
            id=call.id,
            name=_safe_tool_name(call),
            arguments=_json_arguments(call),
            seal=_seal(call.entry.metadata),
        )


def _sealed_thoughts(entry: Entry) -> Iterator[Reasoning]:
    """The reasoning that has a seal: providers reject reasoning without one."""
    kept = entry.metadata.get(THOUGHTS)
    for thought in cast("list[object]", kept) if isinstance(kept, list) else []:
        if isinstance(thought, dict):
            fields = cast("Mapping[str, object]", thought)
            text, seal = fields.get("text"), _seal(fields)
            if isinstance(text, str) and seal:
                yield Reasoning(text=_replace_surrogates(text), seal=seal)


def _seal(fields: Mapping[str, object]) -> str:
    seal = fields.get(SEAL)
    return seal if isinstance(seal, str) else ""


def _json_arguments(call: CallRecord) -> str:
    """As the model wrote them if they are an object: services reject a history with anything else."""
    text = _replace_surrogates(call.entry.content)
    if not text.strip():
        return "{}"
    return text if call.arguments is not None else json.dumps({"unparsable": text}, ensure_ascii=False)


def _tool_result(call: CallRecord) -> ToolResult:
    if call.result is None:
        return ToolResult(call_id=call.id, name=_safe_tool_name(call), text=LOST_RESULT, failed=True)
    failed = call.result.status in _INCOMPLETE
    return ToolResult(
        call_id=call.id, name=_safe_tool_name(call), text=_replace_surrogates(call.result.content), failed=failed
    )


def _safe_tool_name(call: CallRecord) -> str:
    """A name that services accept: the model may have invented one."""
    return "".join(letter if letter in _LETTERS else "_" for letter in call.name[:_MAX_NAME])


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which file names may contain and UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


_WINDOW_FULL_HINT = "Run `marid clear`, start a new conversation, or use a model with a larger window"
_TOOLS_HINT = "The tools alone are {:,}: the settings `tools` and `no_tool_calls` leave them out. "


@dataclass(frozen=True, kw_only=True)
class WindowLimits:
    """The model's window, tools and system prompt included; 0 if it is not known.

    `user_limit` is the user's own limit for the messages, 0 for none.
    """

    model: str
    limit: int = 0
    user_limit: int = 0
    warn_percent: float = 80.0


WINDOW_LOOKUP_TOKENS = 1_000
"""Only from so many tokens on the provider is asked for a window that is not known: a short prompt is not worth a
request before the first answer."""


class RequestBuilder:
    """Builds the requests of one round, and warns once when the window is nearly full."""

    def __init__(self, window: WindowLimits, tools: tuple[ToolOffer, ...], api: Mapping[str, Any]) -> None:
        """`api` is the table of that name in the settings."""
        self._window = window
        self._tools = tools
        self._parameters = Parameters.from_table(api)
        self._warned = False
        self._window_known = bool(window.limit or window.user_limit)

    def needs_window(self, turns: Sequence[Turn]) -> bool:
        """Whether to ask the provider for the window: it is not known, and the history is long."""
        if self._window_known:
            return False
        return (
            request_tokens(ModelRequest(model=self._window.model, messages=provider_messages(turns)))
            >= WINDOW_LOOKUP_TOKENS
        )

    def set_window(self, limit: int) -> None:
        """The window, or 0 if the provider does not know it either."""
        self._window = replace(self._window, limit=limit)
        self._window_known = True

    def set_tools(self, tools: tuple[ToolOffer, ...]) -> None:
        """Offer these tools from now on."""
        self._tools = tools

    def build_request(self, system: str, turns: Sequence[Turn]) -> tuple[ModelRequest, WindowWarning | None]:
        """The next request, with the warning if this is the first that nearly fills the window.

        Raises: Exhausted if it does not fit.
        """
        request = ModelRequest(
            model=self._window.model,
            messages=provider_messages(turns),
            system=system,
            tools=self._tools,
            parameters=self._parameters,
        )
        prompt = replace(request, tools=(), system="")
        warning = self._check_fits(prompt, self._window.user_limit, "context_window_limit is")
        return request, self._check_fits(request, self._window.limit, f"'{request.model}' takes") or warning

    def _check_fits(self, request: ModelRequest, limit: int, bound: str) -> WindowWarning | None:
        if limit <= 0:
            return None
        tokens = request_tokens(request)
        if tokens >= limit:
            tools = request_tokens(replace(request, messages=(), system=""))
            raise Exhausted(
                f"the window is full: the request is about {tokens:,} tokens and {bound} {limit:,}. "
                + (_TOOLS_HINT.format(tools) if tools * 2 > limit else "")
                + _WINDOW_FULL_HINT
            )
        if self._warned or tokens * 100 < limit * self._window.warn_percent:
            return None
        self._warned = True
        return WindowWarning(limit - tokens, limit)
