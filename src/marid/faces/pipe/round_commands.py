"""Commands that ask a model or call a tool."""

from typing import cast

from marid.app import conversation_settings, inboxes
from marid.app import tool_calls as calls
from marid.app.model_info import as_toml, find_model_info
from marid.app.rounds import run_round
from marid.app.tool_calls import ToolCallRequest
from marid.app.tool_session import notice_listener
from marid.core.command_events import (
    AllInboxesEmpty,
    InboxEmpty,
    InboxesProcessed,
    InboxFailed,
    InboxProcessing,
    ModelSet,
)
from marid.core.errors import BadInput, MaridError
from marid.faces.json_input import parse_json
from marid.faces.pipe.done_line import error_from_code, error_report
from marid.faces.pipe.json_lines import OutputClosed
from marid.faces.pipe.json_request import JsonSession
from marid.toolkit.outcome import ToolFailure, ToolOutput

AGENT = "agent"


async def send_prompt(session: JsonSession) -> None:
    """Run one round. Raises: as `run_round`."""
    request = session.request
    said = session.round_request(request.fields["prompt"], request.context)
    await run_round(session.scope, said, session.writer.listen)


async def call_tool(session: JsonSession) -> None:
    """Call one tool, without approvals. With `force_call_agent` the result becomes the prompt of a round.

    Raises: the error of the failure's family.
    """
    request = session.request
    text = await _call_tool(session, request.fields["name"], _arguments(request.fields["args"]))
    if request.force != AGENT:
        session.writer.write_result(text)
        return
    await run_round(session.scope, session.round_request(text, request.context), session.writer.listen)


async def _call_tool(session: JsonSession, name: str, args: dict[str, object]) -> str:
    calling = ToolCallRequest(tool=name, conversation=session.request.context, args=args, access=session.access)
    match await calls.call_tool(session.scope, calling, listener=notice_listener(session.note)):
        case ToolOutput(text=text):
            return text
        case ToolFailure(code=code, message=message):
            raise error_from_code(code, message)


def _arguments(words: list[str]) -> dict[str, object]:
    text = " ".join(words)
    if not text.strip():
        return {}
    value = parse_json(text, "'command.call_tool.args'")
    if not isinstance(value, dict):
        raise BadInput("'command.call_tool.args' must join to a JSON object")
    return cast("dict[str, object]", value)


async def check_inbox(session: JsonSession) -> None:
    """Run a round in that conversation if it has messages. Raises: as `run_round`."""
    name = session.conversation_for("context")
    count = dict(inboxes.inbox_counts(session.scope, archived=True)).get(name, 0)
    if not await _process_inbox(session, name, count):
        session.writer.write_event(InboxEmpty(name))


async def check_all_inboxes(session: JsonSession) -> None:
    """Run a round in every conversation that has messages, even if some fail. Raises: the first error."""
    processed = 0
    failed: list[MaridError] = []
    for name, count in inboxes.inbox_counts(session.scope):
        try:
            processed += await _process_inbox(session, name, count)
        except OutputClosed:
            raise
        except MaridError as error:
            failed.append(error)
            code, message, _ = error_report(error)
            session.writer.write_event(InboxFailed(name, code, message))
    if processed:
        session.writer.write_event(InboxesProcessed(processed))
    elif not failed:
        session.writer.write_event(AllInboxesEmpty())
    if failed:
        raise failed[0]


async def _process_inbox(session: JsonSession, name: str, count: int) -> bool:
    """False if there are no messages, or if another process took them."""
    if not count:
        return False
    session.writer.write_event(InboxProcessing(count, name))
    end = await inboxes.run_inbox_round(session.scope, session.round_request("", name), session.writer.listen, None)
    return end is not None


async def set_model(session: JsonSession) -> None:
    """Switch the conversation to a model. Raises: NotFound if its provider does not have it; Unavailable."""
    name = session.conversation_for("context")
    model = await conversation_settings.set_model(session.scope, name, session.request.fields["model"])
    session.writer.write_event(ModelSet(model, name))


async def model_metadata(session: JsonSession) -> None:
    """Print what is known about a model as TOML for models.toml. Raises: as `Model.info`."""
    fields = session.request.fields
    session.writer.write_result(as_toml(await find_model_info(session.scope, fields["model"]), full=fields["full"]))


COMMANDS = (send_prompt, call_tool, check_inbox, check_all_inboxes, set_model, model_metadata)
