"""Options that are flags of the whole program as well, with what a shell offers for their values."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from marid.faces import flag_options, reach
from marid.faces.cli import words
from marid.faces.flag_options import Offer
from marid.faces.flags import DEBUG_KEYS

OFFERS: Mapping[str, Offer] = MappingProxyType(
    {
        "name": words.conversations(),
        "previous": words.conversations("-"),
        "any": words.conversations("-", "new", "new:"),
        "thing": words.things,
        "setting": words.settings,
        "effects": words.some_of(words.ASKED_FOR),
        "keys": words.some_of(DEBUG_KEYS),
        "tool": words.tools,
        "tools": words.all_tools,
        "file": words.path("file"),
        "path": words.path("file"),
        "folder": words.path("dir"),
    }
)


def option_of(name: str, *spellings: str) -> click.Option:
    """The flag of that name as an option; `spellings` are further ones."""
    return flag_options.option_of(name, *spellings, offers=OFFERS)


REACH = tuple(option_of(name) for name in reach.NAMES)
