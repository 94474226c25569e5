"""`marid conversations`: which there are, and what becomes of them."""

from typing import Any

import click

from marid.app import conversations
from marid.app.app import App
from marid.core.errors import BadInput
from marid.faces.cli.argv.completion_values import complete_conversation as known
from marid.faces.cli.argv.conversation_params import ConversationArgument, ConversationOption, reject_empty_name
from marid.faces.cli.operations import conversation_actions, conversation_views
from marid.text.conversation_names import check_conversation_name

_HELP = """List the conversations, or do something with one.

\b
    marid conversations                     all of them; * marks the current one
    marid conversations switch review       mean this one from now on (marid -c review)
    marid conversations switch -            the one before; `new` and `new:PREFIX` make a name
    marid conversations rename review done  give it another name
    marid conversations archive done        put it away: it can be read, and nothing can be said in it
    marid conversations destroy done        remove it and all that was said in it

Where a command takes [NAME], the current conversation is meant without it. `marid clear` empties a window and keeps the
conversation.
"""
_CONTEXT = {"help_option_names": ["-h", "--help"]}


def app_after_sweep(ctx: click.Context, *, verbose: bool = False) -> App:
    """The workbench, after conversations whose time has come are gone."""
    app: App = ctx.obj()
    conversation_actions.sweep(app, verbose=verbose)
    return app


def json_option() -> click.Option:
    """For a program."""
    return click.Option(["--json", "as_json"], is_flag=True, help="The same for a program.")


class ConversationsGroup(click.Group):
    """Alone it lists."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            raise BadInput(f"there is no `marid conversations {args[0]}`; there are {', '.join(self.commands)}")
        return super().resolve_command(ctx, args)


def _list_by_default(ctx: click.Context, *, as_json: bool) -> int:
    return 0 if ctx.invoked_subcommand else conversation_actions.run_list(ctx.obj(), as_json=as_json)


command = ConversationsGroup(
    "conversations",
    params=[json_option()],
    callback=click.pass_context(_list_by_default),
    invoke_without_command=True,
    help=_HELP,
    context_settings=_CONTEXT,
    subcommand_metavar="[COMMAND] ...",
)


def _add_subcommand(name: str, callback: Any, params: list[click.Parameter], words: str) -> None:
    made = click.Command(
        name, callback=click.pass_context(callback), params=params, help=words, context_settings=_CONTEXT
    )
    command.add_command(made)


def _list(ctx: click.Context, *, as_json: bool) -> int:
    return conversation_actions.run_list(ctx.obj(), as_json=as_json)


def _show(ctx: click.Context, conversation: str, *, as_json: bool) -> None:
    app: App = ctx.obj()
    name = conversation_actions.resolve_after_sweep(app, conversation)
    conversation_actions.check_exists(app, name)
    conversation_views.show_conversation(app, name, as_json=as_json)


def _switch(ctx: click.Context, conversation: str) -> None:
    conversations.check_selector(conversation, allow_new=True)
    conversation_actions.switch(app_after_sweep(ctx), conversation)


def _rename(ctx: click.Context, names: tuple[str, ...], conversation: str) -> None:
    *old, new = names
    if len(old) + bool(conversation) > 1:
        raise BadInput("rename takes the new name, or the old and the new one")
    check_conversation_name(new)
    app: App = ctx.obj()
    conversation_actions.rename(
        app, conversation_actions.resolve_after_sweep(app, "".join(old) or conversation, changes=True), new
    )


def _archive(ctx: click.Context, conversation: str) -> None:
    app: App = ctx.obj()
    conversation_actions.set_archived(
        app, conversation_actions.resolve_after_sweep(app, conversation, changes=True), archived=True
    )


def _restore(ctx: click.Context, conversation: str) -> None:
    app: App = ctx.obj()
    conversation_actions.set_archived(
        app, conversation_actions.resolve_after_sweep(app, conversation, changes=True), archived=False
    )


def _destroy(ctx: click.Context, conversation: str, *, yes: bool) -> None:
    app: App = ctx.obj()
    conversation_actions.destroy(
        app, conversation_actions.resolve_after_sweep(app, conversation, changes=True), yes=yes
    )


def _expire(ctx: click.Context, conversation: str, at: str, after: str) -> None:
    if not at and not after:
        raise BadInput("say when: --at SECONDS-SINCE-1970 or --after SECONDS; 0 means never")
    app: App = ctx.obj()
    conversation_actions.expire(app, conversation_actions.resolve_after_sweep(app, conversation), at, after)


_add_subcommand("list", _list, [json_option()], "List all conversations; * marks the current one (marid -L).")
_add_subcommand("show", _show, [ConversationArgument(), json_option()], "Show one in short (marid -l).")
_add_subcommand(
    "switch",
    _switch,
    [ConversationArgument("conversation", "new", "new:", required=True)],
    "Mean this one from now on; -, new and new:PREFIX too (marid -c).",
)
_add_subcommand(
    "rename",
    _rename,
    [
        click.Argument(
            ["names"],
            nargs=-1,
            required=True,
            metavar="[OLD] NEW",
            shell_complete=known("-"),
            callback=reject_empty_name,
        ),
        ConversationOption("The old one."),
    ],
    "Give a conversation another name (marid -r, -R).",
)
_add_subcommand(
    "archive",
    _archive,
    [ConversationArgument()],
    "Put a conversation away: it can be read, and nothing can be said in it.",
)
_add_subcommand("restore", _restore, [ConversationArgument()], "Bring back a conversation that was put away.")
_add_subcommand(
    "destroy",
    _destroy,
    [ConversationArgument(), click.Option(["--yes"], is_flag=True, help="Do not ask first.")],
    "Remove a conversation and all that was said in it (marid -d, -D). Asks on the terminal; does nothing without one.",
)
_add_subcommand(
    "expire",
    _expire,
    [
        ConversationArgument(required=True),
        click.Option(["--at"], default="", metavar="TS", help="At this time, in seconds since 1970; 0 means never."),
        click.Option(["--after"], default="", metavar="SECS", help="After so many seconds without use; 0 means never."),
    ],
    "Let a conversation, which is made if it is not there, be destroyed by itself (marid --destroy-at).",
)
