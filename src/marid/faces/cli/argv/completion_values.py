"""Completions for the values of options."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.faces.flag_options import Completer

# The effects that need approval; granting the others would change nothing.
GRANTABLE_EFFECTS = tuple(effect.value for effect in Effect if effect not in HARMLESS_EFFECTS)


def complete_list(known: Sequence[str]) -> Completer:
    """The last word of a comma-separated list."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, word = incomplete.rpartition(",")
        taken = before.split(",")
        return [CompletionItem(before + comma + one) for one in known if one.startswith(word) and one not in taken]

    return offer


def complete_path(kind: str) -> Completer:
    """A path, which the shell itself completes: `kind` is file or dir."""
    return lambda ctx, param, incomplete: [CompletionItem(incomplete, type=kind)]


def complete_parameter(about: Mapping[str, Any]) -> Completer | None:
    """The value of a tool's parameter, from its JSON schema."""
    if "enum" in about:
        return complete_choice([str(one) for one in about["enum"]])
    if about.get("type") == "boolean":
        return complete_choice(["true", "false"])
    if str(about.get("format", "")).startswith("project-path"):
        return complete_path("file")
    return None


def complete_choice(known: Sequence[str]) -> Completer:
    """One of `known`."""
    return lambda ctx, param, incomplete: [CompletionItem(one) for one in known if one.startswith(incomplete)]


def complete_conversation(*extra: str) -> Completer:
    """The name of a conversation, or one of `extra`."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # Imported when used: most lines do not name a conversation.
        from marid.app.conversations import conversation_names

        known = (*extra, *conversation_names(ctx.obj()))
        return [CompletionItem(one) for one in known if one.startswith(incomplete)]

    return offer


def complete_inspectable(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """THING of `marid inspect`."""
    from marid.app import inspection

    return complete_choice(inspection.inspectable_names())(ctx, param, incomplete)


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The key of a setting, with `=`."""
    from marid.app.inspection import setting_keys

    return complete_choice([f"{key}=" for key in setting_keys()])(ctx, param, incomplete)


def complete_any_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of all tools that a model may be offered."""
    return complete_list(tuple(ctx.obj().toolbox.inventory.names()))(ctx, param, incomplete)


def complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of tools that work outside of a conversation."""
    from marid.app.tool_session import list_tools

    return complete_list(tuple(name for name, _ in list_tools(ctx.obj())))(ctx, param, incomplete)
