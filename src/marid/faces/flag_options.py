"""The options of commands that are flags of the whole program as well: made of the same table."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from marid.faces.flags import find_flag

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_NO_COMPLETERS: Mapping[str, Completer] = MappingProxyType({})


def click_option(name: str, *spellings: str, offers: Mapping[str, Completer] = _NO_COMPLETERS) -> click.Option:
    """The flag of that name as an option; `spellings` are further ones, `offers` what a shell is told, by kind."""
    flag = find_flag(name)
    more: dict[str, Any] = {"is_flag": True}
    if flag.values:
        (value,) = flag.values
        more = {"metavar": value.metavar, "shell_complete": offers.get(value.kind), "multiple": flag.many}
    return click.Option([*flag.spellings, *spellings, flag.name], help=flag.help, **more)
