"""What only a conversation has: notes that last, other conversations, and whose turn is next."""

import json
from collections.abc import Mapping
from typing import Annotated

from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.ports.handoff import Handoff
from marid.ports.model import ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool
from marid.tools.text_files import count_text

_OUTSIDE = "it works in a conversation, and this call is outside of one"
MAX_CHARACTERS = 100_000
"""Of todos and goals, which every request carries, and of a message, which a window must hold."""
MAX_MESSAGES = 200


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def update_todos(
    content: Annotated[str, "the whole list; an empty text clears it"], *, notes: NoteWriter
) -> ToolOutput:
    """Replace the todo list of this conversation, which you see at the beginning of every request."""
    return _write_note(notes, "todos", content)


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def update_goals(content: Annotated[str, "all goals; an empty text clears them"], *, notes: NoteWriter) -> ToolOutput:
    """Replace the goals of this conversation: what it is for, beyond the next step."""
    return _write_note(notes, "goals", content)


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def update_reflection(content: Annotated[str, "the whole new text"], *, reflection: ReflectionWriter) -> ToolOutput:
    """Replace what you remember across all conversations: about the user, the work and yourself.

    You see it at the beginning of every request, so keep it short. What stands there now is lost unless you repeat it.
    """
    reflection.write(content)
    return ToolOutput(text=f"Reflection updated: {count_text(len(content), 'character')}")


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def send_message(
    to: Annotated[str, "name of the conversation; it is made if it is not there"],
    content: Annotated[str, "the message"],
    from_: Annotated[str, "who sends it, as a name; by default this conversation"] = "",
    *,
    peers: Peers,
) -> ToolOutput:
    """Put a message into the inbox of another conversation, which reads it before its next prompt."""
    _check_not_empty("content", content)
    _check_size(content)
    peers.send(to, content, from_)
    return ToolOutput(text=f"Message sent to '{to}'")


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def read_conversation(
    context_name: Annotated[str, "name of the conversation"],
    include_messages: Annotated[bool, "with its last messages"] = True,  # noqa: FBT002 - the documents' parameter
    num_messages: Annotated[int, f"how many of them, at most {MAX_MESSAGES}"] = 5,
    *,
    peers: Peers,
) -> ToolOutput:
    """Look into another conversation: its summary, todos, goals and last messages, as JSON."""
    if not 0 <= num_messages <= MAX_MESSAGES:
        raise BadInput(f"num_messages: must be from 0 to {MAX_MESSAGES}, not {num_messages}")
    peer = peers.get_peer(context_name, num_messages if include_messages else 0)
    values: dict[str, object] = {"name": peer.name, "summary": peer.summary, "todos": peer.todos, "goals": peer.goals}
    values["message_count"] = peer.messages
    if include_messages:
        recent = [{"from": one.sender, "content": one.content, "type": one.type} for one in peer.recent]
        values["recent_messages"] = recent
    return _json_result(values)


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
async def model_info(model: Annotated[str, "name of the model"], *, catalogue: ModelLookup) -> ToolOutput:
    """Tell what is known about a model of this conversation's provider, as JSON: context window, prices and more.

    Prices are dollars for a million tokens. Unknown values are left out.
    """
    _check_not_empty("model", model)
    info = await catalogue.info(model.strip())
    common = {key: value for key, value in info.common_fields().items() if value is not None}
    return _json_result(common | {key: value for key, value in info.more.items() if key not in common})


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def call_agent(prompt: Annotated[str, "what to do next"], *, handoff: Handoff) -> ToolOutput:
    """Continue after this reply with a prompt of your own, instead of waiting for the user."""
    _check_not_empty("prompt", prompt)
    return ToolOutput(text=handoff.hand_to_agent(prompt))


@tool(family="memory", effect=Effect.META, unavailable=_OUTSIDE)
def call_user(message: Annotated[str, "a last message to the user"] = "", *, handoff: Handoff) -> ToolOutput:
    """Hand over to the user: the round ends at once."""
    return ToolOutput(text=handoff.hand_to_user(message))


def _write_note(notes: NoteWriter, name: str, content: str) -> ToolOutput:
    _check_size(content)
    notes.write(name, content)
    return ToolOutput(text=f"{name.capitalize()} updated: {count_text(len(content), 'character')}")


def _check_not_empty(name: str, text: str) -> None:
    if not text.strip():
        raise BadInput(f"{name}: is empty")


def _check_size(content: str) -> None:
    if len(content) > MAX_CHARACTERS:
        raise BadInput(f"content: has {len(content):,} characters, at most {MAX_CHARACTERS:,} are taken: shorten it")


def _json_result(values: Mapping[str, object]) -> ToolOutput:
    return ToolOutput(text=json.dumps(values, ensure_ascii=False, indent=2), values=values)
