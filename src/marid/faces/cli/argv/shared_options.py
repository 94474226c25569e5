"""Options of commands that are also flags of the program, with completion."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from marid.faces import access_flags, flag_options
from marid.faces.cli.argv import completion_values
from marid.faces.flag_options import Completer
from marid.faces.flags import DEBUG_KEYS

COMPLETERS: Mapping[str, Completer] = MappingProxyType(
    {
        "name": completion_values.complete_conversation(),
        "previous": completion_values.complete_conversation("-"),
        "any": completion_values.complete_conversation("-", "new", "new:"),
        "thing": completion_values.complete_inspectable,
        "setting": completion_values.complete_setting,
        "effects": completion_values.complete_list(completion_values.GRANTABLE_EFFECTS),
        "keys": completion_values.complete_list(DEBUG_KEYS),
        "tool": completion_values.complete_tool,
        "tools": completion_values.complete_any_tool,
        "file": completion_values.complete_path("file"),
        "path": completion_values.complete_path("file"),
        "folder": completion_values.complete_path("dir"),
    }
)


def option_with_completion(name: str, *spellings: str) -> click.Option:
    """The flag of that name as an option, with further `spellings`."""
    return flag_options.click_option(name, *spellings, offers=COMPLETERS)


ACCESS_OPTIONS = tuple(option_with_completion(name) for name in access_flags.ACCESS_FLAGS)
