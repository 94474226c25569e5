"""Options of commands made from the table of the program's flags."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from marid.faces.flags import find_flag

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_NO_COMPLETERS: Mapping[str, Completer] = MappingProxyType({})


def click_option(name: str, *spellings: str, offers: Mapping[str, Completer] = _NO_COMPLETERS) -> click.Option:
    """The flag of that name as an option, with further `spellings`; `offers` are completers by kind of value."""
    flag = find_flag(name)
    more: dict[str, Any] = {"is_flag": True}
    if flag.values:
        (value,) = flag.values
        more = {"metavar": value.metavar, "shell_complete": offers.get(value.kind), "multiple": flag.many}
    return click.Option([*flag.spellings, *spellings, flag.name], help=flag.help, **more)
