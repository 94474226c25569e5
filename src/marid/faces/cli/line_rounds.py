"""What a command line does that needs settings, a model or a tool. Imported when used: what only lists is faster."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import anyio

from marid.app import tool_calls
from marid.app.app import RequestScope
from marid.app.input_files import read_text_file
from marid.app.tool_session import ToolAccess, access_from_flags, notice_listener
from marid.core.errors import MaridError
from marid.faces.cli.argv.command_line import LineRun, flag_values
from marid.faces.cli.chat.chat_round import chat_request, check_inboxes, run_chat
from marid.faces.cli.chat.terminal_asker import open_terminal_asker
from marid.faces.cli.operations import conversation_actions, conversation_properties
from marid.faces.cli.operations.model_views import show_model
from marid.faces.cli.operations.tool_call import call_arguments, print_outcome
from marid.faces.cli.view.answer_output import MarkdownLook, render_markdown
from marid.faces.cli.view.console import print_line, print_note
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput

_SETTERS = {
    "set_model": conversation_properties.set_model,
    "set_prompt": conversation_properties.set_system_prompt,
    "set_username": conversation_properties.set_username,
}


def apply_settings(run: LineRun) -> None:
    """Set what is kept in the conversation, before a prompt or a command that follows."""
    for flag, setter in _SETTERS.items():
        if run.line.has(flag):
            setter(run.scope, run.name, run.line.value(flag))


def set_in(flag: str, run: LineRun, word: str, value: str) -> None:
    """`-M` and `-Y`: what the small letter does, in another conversation."""
    _SETTERS[flag](run.scope, conversation_actions.resolve_existing(run.scope, word), value)


def model_info(run: LineRun, model: str, *, full: bool = False) -> int:
    """`--model-metadata`."""
    return show_model(run.scope, model, full=full, as_json=run.line.has("as_json"))


def process_inboxes(run: LineRun, *words: str) -> int:
    """`-b`, and `-B` with a name."""
    names = tuple(conversation_actions.resolve_name(run.scope, word) for word in words) or None
    return check_inboxes(run.scope, names, chat_request("", "", flag_values(run.line)))


def run_tool(run: LineRun, name: str, packed: str) -> int:
    """`-P`; with `-X` the result is part of the prompt instead."""
    if run.line.has("to_model"):
        return 0
    outcome = call_tool(run.scope, access_from_flags(flag_values(run.line)), run.name, (name, packed))
    return print_outcome(outcome, as_json=run.line.has("as_json"))


ACTIONS: dict[str, Callable[..., int | None]] = {
    "set_model_of": partial(set_in, "set_model"),
    "set_prompt_of": partial(set_in, "set_prompt"),
    "model_info": model_info,
    "model_info_full": partial(model_info, full=True),
    "inboxes": process_inboxes,
    "inbox_of": process_inboxes,
    "tool": run_tool,
}


def call_tool(scope: RequestScope, access: ToolAccess, conversation: str, call: tuple[str, str]) -> Outcome:
    """The outcome of a call, a name and its arguments as JSON, in a conversation. Invalid arguments are a failure."""
    name, packed = call
    try:
        args = call_arguments({"properties": {}}, {}, packed or "{}", "-P takes the name of a tool and")
        request = tool_calls.ToolCallRequest(tool=name, conversation=conversation, args=args, access=access)
        asker, listener = open_terminal_asker(colour=scope.colour), notice_listener(print_note)
        return anyio.run(tool_calls.call_tool, scope, request, asker, listener)
    except MaridError as error:
        return ToolFailure(code=error.code, message=str(error))


def prompt_with_result(outcome: Outcome, prompt: str) -> str:
    """A prompt for the model: the user's words, then the result of a call."""
    result = outcome.text if isinstance(outcome, ToolOutput) else f"ERROR: {outcome.message}"
    return "\n\n".join(part for part in (prompt, result) if part.strip())


def chat(run: LineRun) -> int:
    """Send the prompt, with the results of `-P`, and show the round; returns the exit code."""
    request = chat_request(run.name, " ".join(run.line.words), flag_values(run.line))
    for name, packed in run.line.given.get("tool", ()):
        outcome = call_tool(run.scope, request.access, run.name, (name, packed))
        request = replace(request, prompt=prompt_with_result(outcome, request.prompt), force="agent")
    return run_chat(run.scope, request)


def show_page(scope: RequestScope, path: str) -> int:
    """`--debug md=FILE`: print a file as answers are rendered. Raises: NotFound; BadInput if it is not a text file."""
    look = MarkdownLook(scope.settings.display.markdown_style, scope.colour)
    print_line(render_markdown(read_text_file(scope, path), look).removesuffix("\n"))
    return 0
