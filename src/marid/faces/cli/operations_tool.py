"""`-P TOOL JSON`: a tool called by its name, its arguments in one piece."""

from marid.app.app import App
from marid.app.reach import Reach
from marid.core.errors import MaridError
from marid.faces.cli.exits import say
from marid.faces.cli.tool_command import arguments, shown
from marid.toolkit.outcome import Done, Failed, Outcome


def call_tool(app: App, reach: Reach, conversation: str, call: tuple[str, str]) -> Outcome:
    """What the call, a name and its arguments, came to; arguments that are no JSON object are a failure as well."""
    import anyio

    from marid.app import calling
    from marid.faces.cli.terminal import terminal_asker

    name, packed = call
    try:
        given = arguments({"properties": {}}, {}, packed or "{}", "-P takes the name of a tool and")
        made = calling.Calling(tool=name, conversation=conversation, args=given, reach=reach)
        return anyio.run(calling.call_tool, app, made, terminal_asker(colour=app.colour), say)
    except MaridError as error:
        return Failed(code=error.code, message=str(error))


def show_call(app: App, reach: Reach, conversation: str, call: tuple[str, str], *, as_json: bool = False) -> int:
    """Call it and print the result; the exit code."""
    return shown(call_tool(app, reach, conversation, call), as_json=as_json)


def said_of(outcome: Outcome, words: str) -> str:
    """What a model is told of a call: the words of the person, and the result."""
    result = outcome.text if isinstance(outcome, Done) else f"ERROR: {outcome.message}"
    return "\n\n".join(part for part in (words, result) if part.strip())
