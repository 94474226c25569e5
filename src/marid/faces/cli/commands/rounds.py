"""Commands that hold a round: `marid say`, `marid resume`, `marid inbox`."""

import json
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from marid.app.app import RequestScope
from marid.app.conversations import check_selector, resolve_name
from marid.app.inboxes import inbox_counts
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import settings_from, unknown_key_warnings
from marid.faces.cli.argv.params import (
    ACCESS_OPTIONS,
    ConversationArgument,
    ConversationOption,
    json_option,
    option_with_completion,
)
from marid.faces.cli.chat.chat_round import chat_request, check_inboxes, run_chat
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.view.console import print_line, print_note, print_untrusted, replace_invalid_bytes
from marid.faces.click_command import ScopedCommand
from marid.text.display import escape_text, format_timestamp


def _warn_unknown_keys(ctx: click.Context, param: click.Parameter, keys: str | None) -> str | None:
    """Warn about unknown keys after the command's name; those before it were checked with the line."""
    if ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        for warning in unknown_key_warnings(keys or ""):
            print_note(warning)
    return keys


_USERNAME = option_with_completion("username", "--username")
_USERNAME.callback = lambda ctx, param, name: name and replace_invalid_bytes(name)
_DEBUG = option_with_completion("debug")
_DEBUG.callback = _warn_unknown_keys
_SETTING_FLAGS = ("sets", "include", "exclude", "no_tool_calls", "wait_lock")
_DISPLAY_FLAGS = ("verbose", "show_thinking", "hide_tool_calls", "raw")
CHAT_OPTIONS: tuple[click.Option, ...] = (
    option_with_completion("model"),
    _USERNAME,
    *map(option_with_completion, _SETTING_FLAGS),
    *ACCESS_OPTIONS,
    *map(option_with_completion, _DISPLAY_FLAGS),
    _DEBUG,
)
_SAY_PARAMS: list[click.Parameter] = [
    ConversationOption("Use this conversation (- previous, new, new:PREFIX).", "new", "new:"),
    *CHAT_OPTIONS,
    click.Argument(["words"], nargs=-1, metavar="[WORDS]..."),
]
_SAY_EXAMPLES = (
    ('marid say "what does this project do?"', "ask a question"),
    ('git diff | marid say -C review "any bugs?"', "ask about piped text, in a conversation"),
    ("marid say", "type the prompt; a line with only `.` ends it"),
)


@click.command(cls=ScopedCommand, params=_SAY_PARAMS, examples=_SAY_EXAMPLES)
def say(scope: RequestScope, conversation: str, words: tuple[str, ...], **given: Any) -> int:
    """Send a prompt and print the answer.

    `marid WORDS` does the same unless the first word is a command. Piped text is added after the words. The answer goes
    to stdout, everything else to stderr. Ctrl-C stops the round and keeps what was said (exit code 130; 143 after
    SIGTERM, 129 after SIGHUP); a second Ctrl-C exits at once.
    """
    if conversation:
        check_selector(conversation, allow_new=True)
    conversation_actions.sweep(scope)
    name = resolve_name(scope, conversation)
    return run_chat(scope.within(name, settings_from(given)), chat_request(name, " ".join(words), given))


@click.command(cls=ScopedCommand, params=[*CHAT_OPTIONS, ConversationArgument("name")])
def resume(scope: RequestScope, name: str, **given: Any) -> int:
    """Continue the last round of a conversation after Ctrl-C, a crash or a lost connection, without a new message.

    Everything said and done so far is kept. An interrupted tool call is not repeated; the model is informed instead.
    """
    name = conversation_actions.resolve_after_sweep(scope, name)
    return run_chat(scope.within(name, settings_from(given)), replace(chat_request(name, "", given), resume=True))


_INBOX_PARAMS: list[click.Parameter] = [
    ConversationArgument("names", nargs=-1),
    click.Option(["--all", "everyone"], is_flag=True, help="Process every conversation that has messages."),
    click.Option(["--peek"], is_flag=True, help="Only show pending messages."),
    json_option("Print pending messages as JSON (with --peek)."),
    *CHAT_OPTIONS,
]
_INBOX_EXAMPLES = (
    ("marid inbox", "the current conversation"),
    ("marid inbox NAME...", "these conversations"),
    ("marid inbox --all", "every conversation with messages, for example from cron"),
    ("marid inbox --peek", "show pending messages and process nothing"),
)


@click.command(cls=ScopedCommand, params=_INBOX_PARAMS, examples=_INBOX_EXAMPLES)
def inbox(
    scope: RequestScope, names: tuple[str, ...], *, everyone: bool, peek: bool, as_json: bool, **given: Any
) -> int:
    """Let conversations answer the messages that others sent with the tool `send_message`."""
    conversation_actions.sweep(scope)
    if everyone and names:
        raise BadInput("--all means every conversation: remove it, or the names")
    if as_json and not peek:
        raise BadInput("--json works only with --peek")
    keys = None if everyone else tuple(conversation_actions.resolve_name(scope, name) for name in names or ("",))
    if peek:
        _peek(scope, keys, as_json=as_json)
        return 0
    return check_inboxes(scope.within("", settings_from(given)), keys, chat_request("", "", given))


def _peek(scope: RequestScope, names: tuple[str, ...] | None, *, as_json: bool) -> None:
    everyone = tuple(name for name, _ in inbox_counts(scope, archived=True)) if names is None else names
    # A message that a person put there by hand may lack its recipient.
    found = [message._replace(to=name) for name in everyone for message in scope.stores.inbox.peek(name)]
    if as_json:
        print_untrusted(json.dumps([message._asdict() for message in found], indent=2, ensure_ascii=False))
        return
    if not found:
        print_note("no pending messages")
    for message in found:
        at = format_timestamp(message.timestamp * 1000)
        print_line(f"{escape_text(message.to)}  {at}  [From: {escape_text(message.sender)}]")
        print_line("\n".join(f"    {escape_text(line)}" for line in message.content.split("\n")))
