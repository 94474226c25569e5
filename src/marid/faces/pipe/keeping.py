"""Commands that look after conversations: list, destroy, clear, rename, log, inspect, set."""

from marid.app import adjusting, conversations, inspection
from marid.app.presence import is_there
from marid.core.conversation import Holder, Meta
from marid.core.errors import BadInput
from marid.core.version import __version__
from marid.faces.pipe.session import Session
from marid.faces.pipe.shape import FIELDS, UNITS


def list_contexts(session: Session) -> None:
    """All conversations, a result for each."""
    for listed in conversations.listing(session.app):
        _listed(session, listed.meta, listed.holder)


def list_current_context(session: Session) -> None:
    """The conversation of the request, in short; it need not be there."""
    found = conversations.overview(session.app, session.request.context)
    _listed(session, found.meta, found.holder, messages=found.messages, summary=found.summary)


def _listed(session: Session, meta: Meta, holder: Holder | None, **more: object) -> None:
    count = f", {more['messages']} messages" if "messages" in more else ""
    session.wire.result(
        f"{meta.name}{' [active]' if holder else ''}{count}",
        name=meta.name,
        id=meta.id,
        active=holder is not None,
        archived=meta.archived_ms > 0,
        last_message_ms=meta.last_message_ms,
        **more,
    )


def destroy_context(session: Session) -> None:
    """Destroys a conversation without asking, unless somebody works in it; one that is not there is gone already."""
    name = session.about("name")
    gone = conversations.destroy(session.app, name)
    session.wire.result(f"destroyed '{name}'" if gone else f"there is no conversation '{name}'", destroyed=gone)


def archive_history(session: Session) -> None:
    """Empties the window; the transcript stays. Raises: NotFound; Unavailable."""
    name = session.existing("name")
    cleared = conversations.clear(session.app, name)
    words = f"archived the history of '{name}'" if cleared else f"'{name}' has no history to archive"
    session.wire.result(words, archived=cleared)


def rename_context(session: Session) -> None:
    """Gives a conversation another name. Raises: NotFound; Conflict; Unavailable."""
    old, new = session.about("old"), session.request.fields["new"]
    is_there(session.app, old)
    conversations.rename(session.app, old, new)
    session.wire.result(f"renamed '{old}' to '{new}'")


def show_log(session: Session) -> None:
    """The last entries of the window, the first ones for a negative number, all for 0.

    Raises: NotFound; Unavailable.
    """
    count = int(session.request.fields["count"])
    for entry in conversations.log(session.app, session.about("context"), count):
        session.wire.entry(entry)


def inspect(session: Session) -> None:
    """A thing of the conversation or a setting; what nobody knows is `(not set)`.

    Raises: BadInput for settings that make no sense; NotFound; Unavailable.
    """
    name = session.existing("context")
    session.app.resolve(name, {})
    try:
        found = inspection.inspect(session.app, name, session.request.fields["thing"])
    except BadInput:
        found = inspection.UNSET
    session.wire.result(found)


def set_system_prompt(session: Session) -> None:
    """Gives the conversation a system prompt: a text, or the path of a file. Raises: Unavailable."""
    name = session.about("context")
    has_own = adjusting.set_system_prompt(session.app, name, session.request.fields["prompt"])
    session.wire.event("system_prompt_set", context=name, own=has_own)


def show_help(session: Session) -> None:
    """What there is to ask for."""
    commands = "\n".join([*UNITS, *(f"{name} {{{', '.join(FIELDS[name]['properties'])}}}" for name in FIELDS)])
    session.wire.result(f"One JSON object on stdin; --json-schema describes it. Commands:\n{commands}")


def show_version(session: Session) -> None:
    """The version of marid."""
    session.wire.result(f"marid {__version__}")


def no_op(session: Session) -> None:
    """Nothing, but the conversation's end may have been set, and others may have ended."""
    del session
