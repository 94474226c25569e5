"""What a shell offers for the value of an option."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from marid.core.policy import HARMLESS, Effect

Offer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

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
