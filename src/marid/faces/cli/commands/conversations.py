"""`marid conversations`: list, switch, rename, archive and delete conversations."""

import click

from marid.app import conversations
from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.faces.cli.argv.option_tables import LIST_OPTIONS
from marid.faces.cli.argv.params import (
    ConversationArgument,
    ConversationOption,
    json_option,
    names_argument,
    plain_option,
)
from marid.faces.cli.operations import conversation_actions, conversation_views
from marid.faces.click_command import HelpGroup
from marid.text.conversation_names import check_conversation_name

_EXAMPLES = (
    ("marid conversations", "list all; * marks the current one"),
    ("marid conversations switch review", "switch to `review` (marid -c review)"),
    ("marid conversations switch -", "switch back to the previous one"),
    ("marid conversations rename review done", "rename it"),
    ("marid conversations archive done", "keep it for reading; it takes no new messages"),
    ("marid conversations destroy done", "delete it and its history"),
)


def _resolve_for_change(scope: RequestScope, conversation: str) -> str:
    return conversation_actions.resolve_after_sweep(scope, conversation, changes=True)


class ConversationsGroup(HelpGroup):
    """Names its commands if it is given an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            raise BadInput(f"unknown command `marid conversations {args[0]}`; there are {', '.join(self.commands)}")
        return super().resolve_command(ctx, args)


@click.group(
    "conversations",
    cls=ConversationsGroup,
    params=[*map(plain_option, LIST_OPTIONS)],
    examples=_EXAMPLES,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] ...",
)
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> int:
    """List conversations, or act on one.

    Commands with [NAME] use the current conversation without it. `marid clear` empties the window of a conversation and
    keeps the conversation.
    """
    return 0 if ctx.invoked_subcommand else conversation_views.run_list(ctx.obj(), as_json=as_json)


@command.command("list", params=[*map(plain_option, LIST_OPTIONS)])
def list_all(scope: RequestScope, *, as_json: bool) -> int:
    """List all conversations; * marks the current one (marid -L)."""
    return conversation_views.run_list(scope, as_json=as_json)


@command.command(params=[ConversationArgument(), json_option()])
def show(scope: RequestScope, conversation: str, *, as_json: bool) -> None:
    """Show a summary of a conversation (marid -l)."""
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    conversation_actions.check_exists(scope, name)
    conversation_views.show_conversation(scope, name, as_json=as_json)


@command.command(params=[ConversationArgument("conversation", "new", "new:", required=True)])
def switch(scope: RequestScope, conversation: str) -> None:
    """Switch to conversation NAME: `-` for the previous one, `new` or `new:PREFIX` for a new one (marid -c)."""
    conversations.check_selector(conversation, allow_new=True)
    conversation_actions.sweep(scope)
    conversation_actions.print_current(conversations.resolve_name(scope, conversation, switch=True))


@command.command(params=[ConversationOption("The conversation to rename."), names_argument("names", "[OLD] NEW")])
def rename(scope: RequestScope, names: tuple[str, ...], conversation: str) -> None:
    """Rename a conversation (marid -r, -R)."""
    *old, new = names
    if len(old) + bool(conversation) > 1:
        raise BadInput("rename takes NEW, or OLD and NEW")
    check_conversation_name(new)
    conversation_actions.rename(scope, _resolve_for_change(scope, "".join(old) or conversation), new)


@command.command(params=[ConversationArgument()])
def archive(scope: RequestScope, conversation: str) -> None:
    """Archive a conversation: it can still be read, but takes no new messages."""
    conversation_actions.set_archived(scope, _resolve_for_change(scope, conversation), archived=True)


@command.command(params=[ConversationArgument()])
def restore(scope: RequestScope, conversation: str) -> None:
    """Restore an archived conversation."""
    conversation_actions.set_archived(scope, _resolve_for_change(scope, conversation), archived=False)


@command.command(params=[ConversationArgument()])
@click.option("--yes", is_flag=True, help="Do not ask first.")
def destroy(scope: RequestScope, conversation: str, *, yes: bool) -> None:
    """Delete a conversation and its history (marid -d, -D). Asks first; without a terminal it needs --yes."""
    conversation_actions.destroy(scope, _resolve_for_change(scope, conversation), yes=yes)


@command.command(params=[ConversationArgument(required=True)])
@click.option("--at", default="", metavar="TS", help="Delete it at this time, in seconds since 1970; 0 means never.")
@click.option("--after", default="", metavar="SECS", help="Delete it after SECS without activity; 0 means never.")
def expire(scope: RequestScope, conversation: str, at: str, after: str) -> None:
    """Set when a conversation is deleted automatically; creates it if needed (marid --destroy-at)."""
    if not at and not after:
        raise BadInput("expire needs --at SECONDS-SINCE-1970 or --after SECONDS; 0 means never")
    conversation_actions.expire(scope, conversation_actions.resolve_after_sweep(scope, conversation), at, after)
