"""What a shell offers for the value of an option."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.faces.flag_options import Completer

# Those that are asked for: granting the others would change nothing.
GRANTABLE_EFFECTS = tuple(effect.value for effect in Effect if effect not in HARMLESS_EFFECTS)


def complete_list(known: Sequence[str]) -> Completer:
    """Of a list with commas, its last word."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, word = incomplete.rpartition(",")
        taken = before.split(",")
        return [CompletionItem(before + comma + one) for one in known if one.startswith(word) and one not in taken]

    return offer


def complete_path(kind: str) -> Completer:
    """A path: `kind` is file or dir. The shell knows which there are."""
    return lambda ctx, param, incomplete: [CompletionItem(incomplete, type=kind)]


def complete_parameter(about: Mapping[str, Any]) -> Completer | None:
    """The value of a tool's parameter, by its schema."""
    if "enum" in about:
        return complete_choice([str(one) for one in about["enum"]])
    if about.get("type") == "boolean":
        return complete_choice(["true", "false"])
    if str(about.get("format", "")).startswith("project-path"):
        return complete_path("file")
    return None


def complete_choice(known: Sequence[str]) -> Completer:
    """One word."""
    return lambda ctx, param, incomplete: [CompletionItem(one) for one in known if one.startswith(incomplete)]


def complete_conversation(*extra: str) -> Completer:
    """The name of a conversation, or one of the words that mean one."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # Imported when used: a line without such a name needs none of it.
        from marid.app.conversations import conversation_names

        known = (*extra, *conversation_names(ctx.obj()))
        return [CompletionItem(one) for one in known if one.startswith(incomplete)]

    return offer


def complete_inspectable(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What can be inspected."""
    from marid.app import inspection

    return complete_choice(inspection.inspectable_names())(ctx, param, incomplete)


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The key of a setting, with the sign after which its value stands."""
    from marid.app.inspection import setting_keys

    return complete_choice([f"{key}=" for key in setting_keys()])(ctx, param, incomplete)


def complete_any_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of all tools that a model may have, those of a conversation among them."""
    return complete_list(tuple(ctx.obj().toolbox().inventory.names()))(ctx, param, incomplete)


def complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of tools."""
    return complete_list(tuple(ctx.obj().toolbox().standalone.names()))(ctx, param, incomplete)
