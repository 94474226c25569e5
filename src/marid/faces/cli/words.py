"""What a shell offers for the value of an option."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from marid.core.policy import HARMLESS, Effect
from marid.faces.flag_options import Offer

# Those that are asked for: granting the others would change nothing.
ASKED_FOR = tuple(effect.value for effect in Effect if effect not in HARMLESS)


def some_of(known: Sequence[str]) -> Offer:
    """Of a list with commas, its last word."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, word = incomplete.rpartition(",")
        taken = before.split(",")
        return [CompletionItem(before + comma + one) for one in known if one.startswith(word) and one not in taken]

    return offer


def path(kind: str) -> Offer:
    """A path: `kind` is file or dir. The shell knows which there are."""
    return lambda ctx, param, incomplete: [CompletionItem(incomplete, type=kind)]


def value_of(about: Mapping[str, Any]) -> Offer | None:
    """The value of a tool's parameter, by its schema."""
    if "enum" in about:
        return one_of([str(one) for one in about["enum"]])
    if about.get("type") == "boolean":
        return one_of(["true", "false"])
    if str(about.get("format", "")).startswith("project-path"):
        return path("file")
    return None


def one_of(known: Sequence[str]) -> Offer:
    """One word."""
    return lambda ctx, param, incomplete: [CompletionItem(one) for one in known if one.startswith(incomplete)]


def conversations(*besides: str) -> Offer:
    """The name of a conversation, or one of the words that mean one."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # Imported when used: a line without such a name needs none of it.
        from marid.app.conversations import names

        known = (*besides, *names(ctx.obj()))
        return [CompletionItem(one) for one in known if one.startswith(incomplete)]

    return offer


def things(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What can be inspected."""
    from marid.app import inspection

    return one_of(inspection.things())(ctx, param, incomplete)


def settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The key of a setting, with the sign after which its value stands."""
    from marid.app.inspection import setting_keys

    return one_of([f"{key}=" for key in setting_keys()])(ctx, param, incomplete)


def all_tools(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of all tools that a model may have, those of a conversation among them."""
    return some_of(tuple(ctx.obj().toolbox().inventory.names()))(ctx, param, incomplete)


def tools(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of tools."""
    return some_of(tuple(ctx.obj().toolbox().alone.names()))(ctx, param, incomplete)
