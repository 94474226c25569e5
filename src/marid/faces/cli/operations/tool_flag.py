"""`-P TOOL JSON`: a tool called by its name, its arguments in one piece."""

from marid.app.app import RequestScope
from marid.app.tool_access import ToolAccess
from marid.core.errors import MaridError
from marid.faces.cli.operations.tool_call import call_arguments, print_outcome
from marid.faces.cli.view.console import print_note
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput


def call_tool(scope: RequestScope, reach: ToolAccess, conversation: str, call: tuple[str, str]) -> Outcome:
    """What the call, a name and its arguments, came to; arguments that are no JSON object are a failure as well."""
    import anyio

    from marid.app import tool_calls
    from marid.app.tool_session import notice_listener
    from marid.faces.cli.chat.terminal_asker import open_terminal_asker

    name, packed = call
    try:
        given = call_arguments({"properties": {}}, {}, packed or "{}", "-P takes the name of a tool and")
        made = tool_calls.ToolCallRequest(tool=name, conversation=conversation, args=given, access=reach)
        asker, listener = open_terminal_asker(colour=scope.colour), notice_listener(print_note)
        return anyio.run(tool_calls.call_tool, scope, made, asker, listener)
    except MaridError as error:
        return ToolFailure(code=error.code, message=str(error))


def run_call(
    scope: RequestScope, reach: ToolAccess, conversation: str, call: tuple[str, str], *, as_json: bool = False
) -> int:
    """Call it and print the result; the exit code."""
    return print_outcome(call_tool(scope, reach, conversation, call), as_json=as_json)


def prompt_with_result(outcome: Outcome, words: str) -> str:
    """What a model is told of a call: the words of the person, and the result."""
    result = outcome.text if isinstance(outcome, ToolOutput) else f"ERROR: {outcome.message}"
    return "\n\n".join(part for part in (words, result) if part.strip())
