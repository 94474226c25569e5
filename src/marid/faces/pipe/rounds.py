"""Commands that ask a model or call a tool."""

from typing import cast

from marid.app import adjusting, inboxes
from marid.app import calling as calls
from marid.app.calling import Calling
from marid.app.model_info import as_toml, known
from marid.app.say import say
from marid.core.errors import BadInput, MaridError
from marid.core.rounds import End
from marid.faces.pipe.codes import error_of, failure_of
from marid.faces.pipe.session import Session
from marid.faces.pipe.stdin import parse_json
from marid.faces.pipe.wire import Unread
from marid.toolkit.outcome import Done, Failed

AGENT = "agent"


async def send_prompt(session: Session) -> None:
    """One round: what is said, and all that follows until the answer. Raises: as `say`."""
    request = session.request
    _ended(session, await say(session.app, session.saying(request.fields["prompt"], request.context), session.tell))


async def call_tool(session: Session) -> None:
    """One call. What would need an approval is refused; with `force_call_agent` the result is what the model is told.

    Raises: the error of the failure's family.
    """
    request = session.request
    text = await _called(session, request.fields["name"], _arguments(request.fields["args"]))
    if request.force != AGENT:
        session.wire.result(text)
        return
    _ended(session, await say(session.app, session.saying(text, request.context), session.tell))


async def _called(session: Session, name: str, args: dict[str, object]) -> str:
    calling = Calling(
        tool=name, conversation=session.request.context, args=args, reach=session.reach, face=session.face
    )
    match await calls.call_tool(session.app, calling, note=session.note):
        case Done(text=text):
            return text
        case Failed(code=code, message=message):
            raise error_of(code, message)


def _arguments(words: list[str]) -> dict[str, object]:
    text = " ".join(words)
    if not text.strip():
        return {}
    value = parse_json(text, "'command.call_tool.args'")
    if not isinstance(value, dict):
        raise BadInput("'command.call_tool.args' must make a JSON object")
    return cast("dict[str, object]", value)


async def check_inbox(session: Session) -> None:
    """A round in that conversation, if anything waits for it. Raises: as `say`."""
    name = session.about("context")
    count = dict(inboxes.waiting(session.app, archived=True)).get(name, 0)
    if not await _processed(session, name, count):
        session.wire.event("inbox_empty", context=name)


async def check_all_inboxes(session: Session) -> None:
    """A round in every conversation for which something waits, whichever of them fail.

    Raises: as `say`, what the first of them raised.
    """
    processed = 0
    failed: list[MaridError] = []
    for name, count in inboxes.waiting(session.app):
        try:
            processed += await _processed(session, name, count)
        except Unread:
            raise
        except MaridError as error:
            failed.append(error)
            code, message, _ = failure_of(error)
            session.wire.event("inbox_failed", context=name, code=code, message=message)
    if processed:
        session.wire.event("inboxes_processed", count=processed)
    elif not failed:
        session.wire.event("all_inboxes_empty")
    if failed:
        raise failed[0]


async def _processed(session: Session, name: str, count: int) -> bool:
    """False when nothing waits, or somebody else was faster."""
    if not count:
        return False
    session.wire.event("inbox_processing", count=count, context=name)
    end = await inboxes.check(session.app, session.saying("", name), session.tell, None)
    _ended(session, end)
    return end is not None


async def set_model(session: Session) -> None:
    """Asks this model from now on, if its provider has it.

    Raises: NotFound when the provider does not know the model; Unavailable.
    """
    name = session.about("context")
    model = await adjusting.set_model(session.app, name, session.request.fields["model"])
    session.wire.event("model_set", model=model, context=name)


async def model_metadata(session: Session) -> None:
    """What is known of a model, as text for models.toml. Raises: as `Model.info`."""
    fields = session.request.fields
    session.wire.result(as_toml(await known(session.app, fields["model"]), full=fields["full"]))


def _ended(session: Session, end: End | None) -> None:
    if end is not None:
        session.wire.event("round_ended", reason=end.reason, round=end.round)
