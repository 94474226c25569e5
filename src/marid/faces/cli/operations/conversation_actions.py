"""What the command line does to conversations. Flags and commands call the same functions; each prints what it did."""

import sys

from marid.app import conversations
from marid.app.app import RequestScope
from marid.core.errors import BadInput, NotFound, Refused
from marid.faces.cli.view.console import print_note, write_stderr

_MAX_DIGITS = 18


def sweep(scope: RequestScope, *, verbose: bool = False) -> str:
    """Delete expired conversations, before anything else is done; the name of the current one if it was among them."""
    before = conversations.current(scope).implied
    gone, problem, failure = conversations.sweep(scope)
    if failure and verbose:
        print_note(failure)
    if problem:
        print_note(problem)
    if gone and verbose:
        print_note(f"deleted expired conversations: {', '.join(gone)}")
    return before if before in gone else ""


def resolve_name(scope: RequestScope, word: str) -> str:
    """The name of the conversation that a name, an id, `-` or "" (the current one) selects. Raises: BadInput."""
    if word:
        conversations.check_selector(word)
    return conversations.resolve_name(scope, word)


def resolve_after_sweep(scope: RequestScope, word: str, *, verbose: bool = False, changes: bool = False) -> str:
    """As `resolve_name`, after expired conversations are deleted. If the current one was, another one is current then,
    which a command that `changes` it does not mean. Raises: BadInput; NotFound.
    """
    if word:
        conversations.check_selector(word)
    gone = sweep(scope, verbose=verbose)
    if gone and not word:
        report_expired_current(gone, changes=changes)
    return resolve_name(scope, word)


def report_expired_current(gone: str, *, changes: bool) -> None:
    """Print that the current conversation has expired. Raises: NotFound if the command `changes` it."""
    if changes:
        raise NotFound(f"'{gone}' has expired and was deleted; name the conversation to change")
    print_note(f"'{gone}' has expired and was deleted")


def print_current(name: str) -> None:
    """Print which conversation is current."""
    print_note(f"'{name}' is the current conversation")


def rename(scope: RequestScope, old: str, new: str) -> str:
    """Rename a conversation and return its new name. Raises: NotFound, whatever the new name is."""
    there = conversations.conversation_exists(scope, old, unused=conversations.current(scope).implied)
    name = conversations.rename(scope, old, new).name if there else conversations.abandon_name(scope, old, new)
    print_note(f"renamed '{old}' to '{name}'")
    return name


def clear(scope: RequestScope, name: str) -> None:
    """Archive the history of a conversation."""
    archived = conversations.clear(scope, name)
    print_note(f"archived the history of '{name}'" if archived else f"'{name}' has no history to archive")


def set_archived(scope: RequestScope, name: str, *, archived: bool) -> None:
    """Archive the conversation itself, or restore it."""
    conversations.archive(scope, name, away=archived)
    print_note(f"archived '{name}': it takes no new messages" if archived else f"restored '{name}'")


def destroy(scope: RequestScope, name: str, *, yes: bool = False) -> None:
    """Delete a conversation after the user confirmed it. Raises: NotFound; Refused without a confirmation."""
    if not conversations.conversation_exists(scope, name, unused=conversations.current(scope).implied):
        now = conversations.abandon_name(scope, name)
        print_note(f"'{name}' was never used; '{now}' is the current conversation")
        return
    if not yes:
        _confirm(name)
    conversations.destroy(scope, name)
    print_note(f"deleted '{name}'; '{conversations.current(scope).implied}' is the current conversation")


def _confirm(name: str) -> None:
    if not sys.stdin.isatty():
        raise Refused(f"did not delete '{name}': there is no terminal to ask on, and --yes was not given")
    write_stderr(f"Delete conversation '{name}' and its history? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused(f"did not delete '{name}'")


def expire(scope: RequestScope, name: str, at: str = "", after: str = "") -> None:
    """Set when a conversation is deleted automatically. Raises: BadInput for what is no number of seconds."""
    expiry = conversations.expire(scope, name, at=_parse_seconds(at), after_inactive=_parse_seconds(after))
    times = [f"at {expiry.at}"] if expiry.at else []
    times += [f"after {expiry.after_inactive} s without use"] if expiry.after_inactive else []
    print_note(f"'{name}' will be deleted {' or '.join(times)}" if times else f"'{name}' does not expire")


def _parse_seconds(text: str) -> int | None:
    if text and not (text.isdecimal() and len(text) < _MAX_DIGITS):
        raise BadInput(f"'{text}' is not a number of seconds: use a whole number; 0 means never")
    return int(text) if text else None


def check_exists(scope: RequestScope, name: str) -> None:
    """Raises: NotFound unless the conversation exists or is the current one, which may be unused yet."""
    conversations.conversation_exists(scope, name, unused=conversations.current(scope).implied)


def resolve_existing(scope: RequestScope, word: str) -> str:
    """As `resolve_name`, for a conversation that exists or is the current one. Raises: BadInput; NotFound."""
    name = resolve_name(scope, word)
    check_exists(scope, name)
    return name


def exists_or_notify(scope: RequestScope, name: str, unused: str) -> bool:
    """Whether a conversation exists; a note is printed if it is the one that may be `unused`. Raises: NotFound."""
    known = conversations.conversation_exists(scope, name, unused=unused)
    if not known:
        print_note(f"'{name}' has no entries yet")
    return known
