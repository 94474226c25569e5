"""Commands on one conversation, and the search in all: log, search, export, inspect, set, clear."""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from marid.app.app import RequestScope
from marid.app.conversations import current
from marid.app.export import FORMS
from marid.app.export import export as export_text
from marid.app.inspection import check_inspectable, setting_keys
from marid.app.output_files import save_bytes
from marid.core.errors import BadInput
from marid.faces.cli.argv.option_tables import LOG_OPTIONS
from marid.faces.cli.argv.params import (
    COMPLETERS,
    ConversationArgument,
    ConversationOption,
    complete_conversation,
    complete_from,
    json_option,
    names_argument,
    plain_option,
)
from marid.faces.cli.operations import conversation_actions, conversation_properties, conversation_views
from marid.faces.cli.view.console import print_note, print_untrusted
from marid.faces.click_command import ScopedCommand
from marid.text.display import quote_path


@click.command(cls=ScopedCommand, params=[ConversationArgument(), *map(plain_option, LOG_OPTIONS)])
def log(scope: RequestScope, conversation: str, count: int, *, following: bool, **given: bool) -> int:
    """Show the entries of a conversation, oldest first (marid -g, -G).

    Messages are shown in full, a tool call in one line and its result as a size. Without --all, only the window is
    shown: the part that is sent to the model.
    """
    options = conversation_views.LogOptions(**given)
    if not following:
        return conversation_views.run_log(scope, conversation, count, options)
    if count or options.whole:
        raise BadInput("--follow shows new entries only: remove -n and --all")
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    if conversation_actions.exists_or_notify(scope, name, unused="" if conversation else current(scope).implied):
        conversation_views.follow_log(scope, name, options)
    return 0


@click.command(cls=ScopedCommand)
@click.argument("words", nargs=-1, required=True)
@click.option("--conversations", is_flag=True, help="Search conversations (required).")
@click.option("--words", "whole", is_flag=True, help="Match whole words only; faster.")
@click.option("--json", "as_json", is_flag=True, help="Print hits as JSON, one per line.")
def search(scope: RequestScope, words: tuple[str, ...], *, conversations: bool, whole: bool, as_json: bool) -> None:
    """Search all conversations for entries that contain every one of WORDS.

    Prints each hit with its conversation, its time and the text around it. Case is ignored, and a word is also found
    inside a longer one.
    """
    if not conversations:
        raise BadInput("add --conversations: `marid search --conversations WORDS`")
    conversation_actions.sweep(scope)
    conversation_views.show_search_hits(scope, " ".join(words), whole=whole, as_json=as_json)


_FORM_HELP = "Output format (default: by FILE's extension, else markdown)."
_TYPES = {"": "markdown", ".md": "markdown", ".markdown": "markdown", ".json": "json", ".html": "html", ".htm": "html"}


@click.command(cls=ScopedCommand, params=[ConversationArgument()])
@click.option("-f", "--format", "form", type=click.Choice(list(FORMS)), help=_FORM_HELP)
@click.option("-o", "--output", type=click.Path(), default="", metavar="FILE", help="Write to FILE.")
@click.option("--all", "everything", is_flag=True, help="Export the whole history, not only the window.")
def export(scope: RequestScope, conversation: str, form: str, output: str, *, everything: bool) -> None:
    """Write a conversation as markdown, JSON or a self-contained HTML page, to stdout or to FILE.

    Without --all, only the window is exported: the part that is sent to the model.
    """
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    text = export_text(scope, name, form or _format_from_name(output), whole=everything)
    if not output:
        print_untrusted(text.removesuffix("\n"))
        return
    save_bytes([[text.encode("utf-8", "backslashreplace")]], os.path.join(scope.cwd, output))
    print_note(f"exported '{name}' to {quote_path(output)}")


def _format_from_name(output: str) -> str:
    ending = os.path.splitext(output)[1].lower()
    if ending not in _TYPES:
        raise BadInput(f"unknown file type '{quote_path(ending)}': use .md, .json or .html, or --format")
    return _TYPES[ending]


def _complete_words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """THING, or before it the name of a conversation."""
    named = ctx.params.get("words") or ctx.params.get("conversation")
    names = [] if named else complete_conversation("-")(ctx, param, incomplete)
    return [*COMPLETERS["thing"](ctx, param, incomplete), *names]


_INSPECT_PARAMS: list[click.Parameter] = [
    ConversationOption("Inspect this conversation."),
    names_argument("words", "[NAME] THING", _complete_words),
    json_option(),
]
_INSPECT_EXAMPLES = (
    ("marid inspect todos", "the todos of the current conversation"),
    ("marid inspect review fuel", "the setting `fuel` in conversation `review`"),
)


@click.command(cls=ScopedCommand, params=_INSPECT_PARAMS, examples=_INSPECT_EXAMPLES)
def inspect(scope: RequestScope, conversation: str, words: tuple[str, ...], *, as_json: bool) -> None:
    """Show THING of a conversation (marid -n, -N).

    THING is system_prompt, whole_prompt, todos, goals, summary, reflection, home, or the key of a setting; `list` shows
    all of them.
    """
    if len(words) > (1 if conversation else 2):
        raise BadInput("inspect takes THING, or NAME and THING")
    check_inspectable(words[-1])
    name = conversation_actions.resolve_after_sweep(scope, words[0] if len(words) == 2 else conversation)
    if len(words) == 2:
        conversation_actions.check_exists(scope, name)  # -C may name a new one
    conversation_properties.show_inspection(scope, name, words[-1], as_json=as_json)


_SPECIAL_SETTERS: Mapping[str, Callable[[RequestScope, str, str], None]] = MappingProxyType(
    {
        "model": conversation_properties.set_model,
        "username": conversation_properties.set_username,
        "system-prompt": conversation_properties.set_system_prompt,
        "system_prompt": conversation_properties.set_system_prompt,
    }
)


_SPECIAL_KEYS = ("model", "username", "system-prompt")
_SET_EXAMPLES = (
    ("marid set model anthropic:claude-sonnet-4-5", "checked with the provider first (marid -m, -M)"),
    ("marid set username alice", "your name in this conversation (marid -u)"),
    ("marid set system-prompt prompt.md", "a file, or the text itself (marid -y, -Y)"),
    ("marid set fuel 10", "any setting; `marid inspect list` shows them"),
    ("marid set --unset fuel", "back to the default"),
)
_SET_PARAMS: list[click.Parameter] = [
    ConversationOption("Change this conversation."),
    click.Option(["--unset"], is_flag=True, help="Remove KEY from local.toml."),
    click.Argument(["key"], shell_complete=complete_from(lambda ctx: dict.fromkeys((*_SPECIAL_KEYS, *setting_keys())))),
    click.Argument(["value"], nargs=-1, metavar="VALUE"),
]


@click.command(
    "set",
    cls=ScopedCommand,
    params=_SET_PARAMS,
    examples=_SET_EXAMPLES,
    context_settings={"ignore_unknown_options": True},
)
def set_(scope: RequestScope, conversation: str, key: str, value: tuple[str, ...], *, unset: bool) -> None:
    """Change a setting of a conversation from now on, in its local.toml.

    Put settings for all conversations into config.toml; use `-s KEY=VALUE` for a single run.
    """
    if "=" in key and not value and not unset:
        key, _, text = key.partition("=")
        value = (text,)
    if unset == bool(value):
        raise BadInput("`marid set` takes KEY and VALUE, or --unset and KEY")
    name = conversation_actions.resolve_after_sweep(scope, conversation)
    if click.get_current_context().get_parameter_source("conversation") is ParameterSource.COMMANDLINE:
        conversation_actions.check_exists(scope, name)  # `marid -C NAME set` may name a new one
    setter, text = _SPECIAL_SETTERS.get(key), " ".join(value)
    if setter and (not unset or setter is conversation_properties.set_system_prompt):
        setter(scope, name, text)  # without a text, the default system prompt
    else:
        conversation_properties.set_values(scope, name, {key: None if unset else text})


@click.command(cls=ScopedCommand, params=[ConversationArgument()])
def clear(scope: RequestScope, conversation: str) -> None:
    """Archive the history of a conversation: start with an empty window (marid -a, -A).

    The transcript keeps everything: `marid log --all` shows it, `marid search` finds it. To archive the conversation
    itself, use `marid conversations archive`.
    """
    name = conversation_actions.resolve_after_sweep(scope, conversation, changes=True)
    conversation_actions.check_exists(scope, name)
    conversation_actions.clear(scope, name)
