"""Commands on conversations: list, destroy, clear, rename, log, inspect, set."""

from marid.app import conversation_settings, conversations, inspection
from marid.app.conversations import conversation_exists
from marid.core.command_events import SystemPromptSet
from marid.core.conversation.records import ConversationMeta, LeaseHolder
from marid.core.errors import BadInput
from marid.core.version import __version__
from marid.faces.pipe.input_schema import COMMAND_FIELDS, COMMANDS_WITHOUT_FIELDS
from marid.faces.pipe.json_request import JsonSession


def list_contexts(session: JsonSession) -> None:
    """List all conversations, one result each."""
    for listed in conversations.list_conversations(session.scope):
        _write_conversation(session, listed.meta, listed.holder)


def list_current_context(session: JsonSession) -> None:
    """Summarize the conversation of the request, which need not exist."""
    found = conversations.overview(session.scope, session.request.context)
    _write_conversation(session, found.meta, found.holder, messages=found.messages, summary=found.summary)


def _write_conversation(
    session: JsonSession, meta: ConversationMeta, holder: LeaseHolder | None, **more: object
) -> None:
    count = f", {more['messages']} messages" if "messages" in more else ""
    session.writer.write_result(
        f"{meta.name}{' [active]' if holder else ''}{count}",
        name=meta.name,
        id=meta.id,
        active=holder is not None,
        archived=meta.archived_ms > 0,
        last_message_ms=meta.last_message_ms,
        **more,
    )


def destroy_context(session: JsonSession) -> None:
    """Destroy a conversation without asking, unless it is in use; it need not exist."""
    name = session.conversation_for("name")
    gone = conversations.destroy(session.scope, name)
    session.writer.write_result(f"destroyed '{name}'" if gone else f"there is no conversation '{name}'", destroyed=gone)


def archive_history(session: JsonSession) -> None:
    """Empty the window; the transcript stays. Raises: NotFound; Unavailable."""
    name = session.existing_conversation("name")
    cleared = conversations.clear(session.scope, name)
    words = f"archived the history of '{name}'" if cleared else f"'{name}' has no history to archive"
    session.writer.write_result(words, archived=cleared)


def rename_context(session: JsonSession) -> None:
    """Rename a conversation. Raises: NotFound; Conflict; Unavailable."""
    old, new = session.conversation_for("old"), session.request.fields["new"]
    conversation_exists(session.scope, old)
    conversations.rename(session.scope, old, new)
    session.writer.write_result(f"renamed '{old}' to '{new}'")


def show_log(session: JsonSession) -> None:
    """Show the last entries of the window, the first for a negative count, all for 0. Raises: NotFound; Unavailable."""
    count = int(session.request.fields["count"])
    for entry in conversations.log(session.scope, session.conversation_for("context"), count):
        session.writer.write_entry(entry)


def inspect(session: JsonSession) -> None:
    """Show a property or a setting of the conversation; an unknown one is `(not set)`.

    Raises: BadInput for invalid settings; NotFound; Unavailable.
    """
    name = session.existing_conversation("context")
    session.scope.within(name).resolve()
    try:
        found = inspection.inspect(session.scope, name, session.request.fields["thing"])
    except BadInput:
        found = inspection.UNSET
    session.writer.write_result(found)


def set_system_prompt(session: JsonSession) -> None:
    """Set the system prompt from a text or the path of a file. Raises: Unavailable."""
    name = session.conversation_for("context")
    has_own = conversation_settings.set_system_prompt(session.scope, name, session.request.fields["prompt"])
    session.writer.write_event(SystemPromptSet(name, has_own))


def show_help(session: JsonSession) -> None:
    """List the commands."""
    commands = "\n".join(
        [
            *COMMANDS_WITHOUT_FIELDS,
            *(f"{name} {{{', '.join(COMMAND_FIELDS[name]['properties'])}}}" for name in COMMAND_FIELDS),
        ]
    )
    session.writer.write_result(f"One JSON object on stdin; --json-schema describes it. Commands:\n{commands}")


def show_version(session: JsonSession) -> None:
    """Print the version."""
    session.writer.write_result(f"marid {__version__}")


def no_op(session: JsonSession) -> None:
    """Do nothing beyond what every request does: set an expiry, sweep expired conversations."""
    del session


COMMANDS = (
    *(list_contexts, list_current_context, destroy_context, archive_history, rename_context, show_log),
    *(inspect, set_system_prompt, show_help, show_version, no_op),
)
