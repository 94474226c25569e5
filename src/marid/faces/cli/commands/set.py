"""`marid set`: change the settings of a conversation."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from marid.app.app import RequestScope
from marid.app.inspection import setting_keys
from marid.core.errors import BadInput
from marid.faces.cli.argv.completion_values import complete_choice
from marid.faces.cli.argv.conversation_params import ConversationOption
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.operations import conversation_actions

_EXAMPLES = (
    ("marid set model anthropic:claude-sonnet-4-5", "checked with the provider first (marid -m, -M)"),
    ("marid set username alice", "your name in this conversation (marid -u)"),
    ("marid set system-prompt prompt.md", "a file, or the text itself (marid -y, -Y)"),
    ("marid set fuel 10", "any setting; `marid inspect list` shows them"),
    ("marid set --unset fuel", "back to the default"),
)
_SPECIAL_SETTERS: Mapping[str, Callable[[RequestScope, str, str], None]] = MappingProxyType(
    {
        "model": conversation_actions.set_model,
        "username": conversation_actions.set_username,
        "system-prompt": conversation_actions.set_system_prompt,
        "system_prompt": conversation_actions.set_system_prompt,
    }
)


def _complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return complete_choice(list(dict.fromkeys(("model", "username", "system-prompt", *setting_keys()))))(
        ctx, param, incomplete
    )


_PARAMS: list[click.Parameter] = [
    ConversationOption("Change this conversation."),
    click.Option(["--unset"], is_flag=True, help="Remove KEY from local.toml."),
    click.Argument(["key"], shell_complete=_complete_key),
    click.Argument(["value"], nargs=-1, metavar="VALUE"),
]


@click.command(
    "set", cls=HelpCommand, params=_PARAMS, examples=_EXAMPLES, context_settings={"ignore_unknown_options": True}
)
@click.pass_context
def command(ctx: click.Context, conversation: str, key: str, value: tuple[str, ...], *, unset: bool) -> None:
    """Change a setting of a conversation from now on, in its local.toml.

    Put settings for all conversations into config.toml; use `-s KEY=VALUE` for a single run.
    """
    if "=" in key and not value and not unset:
        key, _, text = key.partition("=")
        value = (text,)
    if unset == bool(value):
        raise BadInput("`marid set` takes KEY and VALUE, or --unset and KEY")
    scope: RequestScope = ctx.obj()
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    if ctx.get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        conversation_actions.check_exists(scope, name)  # `marid -C NAME set` may name a new one
    act, text = _SPECIAL_SETTERS.get(key), " ".join(value)
    if unset and act is conversation_actions.set_system_prompt:
        conversation_actions.set_system_prompt(scope, name, "")
    elif unset or act is None:
        conversation_actions.set_values(scope, name, {key: None if unset else text})
    else:
        act(scope, name, text)
