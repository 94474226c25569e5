"""The flags of commands that hold a round, and what they say."""

from typing import Any

import click
from click.core import ParameterSource

from marid.faces.cli.exits import say
from marid.faces.cli.flag_options import REACH, option_of
from marid.faces.cli.flag_settings import settings_from
from marid.faces.cli.line import debug_keys, strange_keys
from marid.faces.cli.line_checks import seconds_of
from marid.faces.cli.prompt_input import sound
from marid.faces.cli.talk import Talk
from marid.faces.reach import reach_of


def _sound(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    return name and sound(name)


_USERNAME = option_of("username", "--username")
_USERNAME.callback = _sound
_TALKING = (
    option_of("model"),
    _USERNAME,
    *(option_of(name) for name in ("sets", "include", "exclude", "no_tool_calls", "wait_lock")),
)


def _told(ctx: click.Context, param: click.Parameter, keys: str | None) -> str | None:
    """Keys that nobody knows are told where they are read; those before the command's name were told already."""
    if ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        for told in strange_keys(keys or ""):
            say(told)
    return keys


_DEBUG = option_of("debug")
_DEBUG.callback = _told
_SHOWING = (*(option_of(name) for name in ("verbose", "show_thinking", "hide_tool_calls", "raw")), _DEBUG)
OPTIONS: tuple[click.Option, ...] = (*_TALKING, *REACH, *_SHOWING)
HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_SHOWN = ("verbose", "show_thinking", "hide_tool_calls")


def talk_of(conversation: str, prompt: str, given: dict[str, Any]) -> Talk:
    """What the flags say. Raises: BadInput for a setting without its value, or an effect or a time that is none."""
    display: dict[str, object] = {name: True for name in _SHOWN if given.get(name)}
    if given.get("raw"):
        display["render_markdown"] = False
    return Talk(
        conversation=conversation,
        prompt=prompt,
        reach=reach_of(given),
        flags=settings_from(given),
        display=display,
        debug=debug_keys(given.get("debug") or ""),
        wait=seconds_of(given.get("wait_lock") or ""),
    )
