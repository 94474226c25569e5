"""`marid inbox`: process or show the messages that conversations sent to each other."""

import json
from typing import Any

import click

from marid.app.app import RequestScope
from marid.app.inboxes import inbox_counts
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import settings_from
from marid.faces.cli.argv.conversation_params import ConversationArgument
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.chat.chat_options import CHAT_OPTIONS
from marid.faces.cli.chat.chat_round import chat_request
from marid.faces.cli.chat.inbox_rounds import check_inboxes
from marid.faces.cli.commands.conversations import scope_after_sweep
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.cli.view.entry_text import print_untrusted
from marid.text.display import escape_text, format_timestamp

_EXAMPLES = (
    ("marid inbox", "the current conversation"),
    ("marid inbox NAME...", "these conversations"),
    ("marid inbox --all", "every conversation with messages, for example from cron"),
    ("marid inbox --peek", "show pending messages and process nothing"),
)


@click.command("inbox", cls=HelpCommand, params=[ConversationArgument("names", nargs=-1)], examples=_EXAMPLES)
@click.option("--all", "everyone", is_flag=True, help="Process every conversation that has messages.")
@click.option("--peek", is_flag=True, help="Only show pending messages.")
@click.option("--json", "as_json", is_flag=True, help="Print pending messages as JSON (with --peek).")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], **given: Any) -> int:
    """Let conversations answer the messages that others sent with the tool `send_message`."""
    scope = scope_after_sweep(ctx)
    everyone: bool = given.pop("everyone")
    peek: bool = given.pop("peek")
    as_json: bool = given.pop("as_json")
    if everyone and names:
        raise BadInput("--all means every conversation: remove it, or the names")
    if as_json and not peek:
        raise BadInput("--json works only with --peek")
    keys = None if everyone else tuple(conversation_actions.resolve_name(scope, name) for name in names or ("",))
    if peek:
        _peek(scope, keys, as_json=as_json)
        return 0
    return check_inboxes(scope.within("", settings_from(given)), keys, chat_request("", "", given))


command.params += CHAT_OPTIONS


def _peek(scope: RequestScope, names: tuple[str, ...] | None, *, as_json: bool) -> None:
    everyone = tuple(name for name, _ in inbox_counts(scope, archived=True)) if names is None else names
    # A message that a person put there by hand may lack its recipient.
    inbox = scope.stores.inbox
    found = [message._replace(to=name) for name in everyone for message in inbox.peek(name)]
    if as_json:
        print_untrusted(json.dumps([message._asdict() for message in found], indent=2, ensure_ascii=False))
        return
    if not found:
        print_note("no pending messages")
    for message in found:
        at = format_timestamp(message.timestamp * 1000)
        print_line(f"{escape_text(message.to)}  {at}  [From: {escape_text(message.sender)}]")
        print_line("\n".join(f"    {escape_text(line)}" for line in message.content.split("\n")))
