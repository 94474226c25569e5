"""`marid set`: what holds in one conversation from now on."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from marid.app.app import App
from marid.core.errors import BadInput
from marid.faces.cli.argv.completion_values import complete_choice
from marid.faces.cli.argv.conversation_params import ConversationOption
from marid.faces.cli.operations import conversation_actions

_HELP = """Set what holds in a conversation from now on, in its local.toml.

\b
    marid set model anthropic:claude-sonnet-4-5   asked for before it is written (marid -m, -M)
    marid set username alice                      what you are called (marid -u)
    marid set system-prompt prompt.md             a file, or the text itself (marid -y, -Y)
    marid set fuel 10                             any setting; `marid inspect list` names them
    marid set --unset fuel                        the usual one again

A setting for all conversations belongs into config.toml; one for a single run is `-s KEY=VALUE`.
"""
_SPECIAL_SETTERS: Mapping[str, Callable[[App, str, str], None]] = MappingProxyType(
    {
        "model": conversation_actions.set_model,
        "username": conversation_actions.set_username,
        "system-prompt": conversation_actions.set_system_prompt,
        "system_prompt": conversation_actions.set_system_prompt,
    }
)


def _set_value(ctx: click.Context, conversation: str, key: str, value: tuple[str, ...], *, unset: bool) -> None:
    if "=" in key and not value and not unset:
        key, _, text = key.partition("=")
        value = (text,)
    if unset == bool(value):
        raise BadInput("say the key and its value; --unset takes only the key")
    app: App = ctx.obj()
    name = conversation_actions.resolve_after_sweep(app, conversation)
    if ctx.get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        conversation_actions.check_exists(app, name)  # `marid -C NAME set` may mean a new one
    act, text = _SPECIAL_SETTERS.get(key), " ".join(value)
    if unset and act is conversation_actions.set_system_prompt:
        conversation_actions.set_system_prompt(app, name, "")
    elif unset or act is None:
        conversation_actions.set_values(app, name, {key: None if unset else text})
    else:
        act(app, name, text)


def _complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from marid.app.inspection import setting_keys

    return complete_choice(list(dict.fromkeys(("model", "username", "system-prompt", *setting_keys()))))(
        ctx, param, incomplete
    )


command = click.Command(
    "set",
    callback=click.pass_context(_set_value),
    params=[
        ConversationOption("In this conversation."),
        click.Option(["--unset"], is_flag=True, help="Take the key out of its local.toml."),
        click.Argument(["key"], shell_complete=_complete_key),
        click.Argument(["value"], nargs=-1, metavar="VALUE"),
    ],
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True},
)
