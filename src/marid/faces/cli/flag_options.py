"""Options that are flags of the whole program as well, with what a shell offers for their values."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from marid.faces import flag_options, reach
from marid.faces.cli import words
from marid.faces.flag_options import Completer
from marid.faces.flags import DEBUG_KEYS

COMPLETERS: Mapping[str, Completer] = MappingProxyType(
    {
        "name": words.complete_conversation(),
        "previous": words.complete_conversation("-"),
        "any": words.complete_conversation("-", "new", "new:"),
        "thing": words.complete_inspectable,
        "setting": words.complete_setting,
        "effects": words.complete_list(words.GRANTABLE_EFFECTS),
        "keys": words.complete_list(DEBUG_KEYS),
        "tool": words.complete_tool,
        "tools": words.complete_any_tool,
        "file": words.complete_path("file"),
        "path": words.complete_path("file"),
        "folder": words.complete_path("dir"),
    }
)


def option_with_completion(name: str, *spellings: str) -> click.Option:
    """The flag of that name as an option; `spellings` are further ones."""
    return flag_options.click_option(name, *spellings, offers=COMPLETERS)


ACCESS_OPTIONS = tuple(option_with_completion(name) for name in reach.ACCESS_FLAGS)
