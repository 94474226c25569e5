"""`marid inspect`: the prompt, notes and settings of a conversation."""

import click
from click.shell_completion import CompletionItem

from marid.app.app import RequestScope
from marid.app.inspection import check_inspectable
from marid.core.errors import BadInput
from marid.faces.cli.argv.completion_values import complete_conversation, complete_inspectable
from marid.faces.cli.argv.conversation_params import ConversationOption, reject_empty_name
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.commands.conversations import json_option
from marid.faces.cli.operations import conversation_actions
from marid.faces.cli.operations.conversation_views import show_inspection


def _complete_words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """THING, or before it the name of a conversation."""
    named = ctx.params.get("words") or ctx.params.get("conversation")
    names = [] if named else complete_conversation("-")(ctx, param, incomplete)
    return [*complete_inspectable(ctx, param, incomplete), *names]


_WORDS = click.Argument(
    ["words"],
    nargs=-1,
    required=True,
    metavar="[NAME] THING",
    shell_complete=_complete_words,
    callback=reject_empty_name,
)
_EXAMPLES = (
    ("marid inspect todos", "the todos of the current conversation"),
    ("marid inspect review fuel", "the setting `fuel` in conversation `review`"),
)


@click.command(
    "inspect",
    cls=HelpCommand,
    params=[ConversationOption("Inspect this conversation."), _WORDS, json_option()],
    examples=_EXAMPLES,
)
@click.pass_context
def command(ctx: click.Context, conversation: str, words: tuple[str, ...], *, as_json: bool) -> None:
    """Show THING of a conversation (marid -n, -N).

    THING is system_prompt, whole_prompt, todos, goals, summary, reflection, home, or the key of a setting; `list` shows
    all of them.
    """
    if len(words) > (1 if conversation else 2):
        raise BadInput("inspect takes THING, or NAME and THING")
    check_inspectable(words[-1])
    scope: RequestScope = ctx.obj()
    name = conversation_actions.resolve_after_sweep(scope, words[0] if len(words) == 2 else conversation)
    if len(words) == 2:
        conversation_actions.check_exists(scope, name)  # -C may name a new one
    show_inspection(scope, name, words[-1], as_json=as_json)
