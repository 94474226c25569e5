"""The flags of commands that hold a round."""

import click
from click.core import ParameterSource

from marid.faces.cli.argv.command_line import unknown_key_warnings
from marid.faces.cli.argv.shared_options import ACCESS_OPTIONS, option_with_completion
from marid.faces.cli.chat.prompt_input import replace_invalid_bytes
from marid.faces.cli.view.console import print_note


def _clean_username(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    return name and replace_invalid_bytes(name)


_USERNAME = option_with_completion("username", "--username")
_USERNAME.callback = _clean_username
_ROUND_OPTIONS = (
    option_with_completion("model"),
    _USERNAME,
    *(option_with_completion(name) for name in ("sets", "include", "exclude", "no_tool_calls", "wait_lock")),
)


def _warn_unknown_keys(ctx: click.Context, param: click.Parameter, keys: str | None) -> str | None:
    """Warn about unknown keys after the command's name; those before it were checked with the line."""
    if ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        for warning in unknown_key_warnings(keys or ""):
            print_note(warning)
    return keys


_DEBUG = option_with_completion("debug")
_DEBUG.callback = _warn_unknown_keys
_DISPLAY_OPTIONS = (
    *(option_with_completion(name) for name in ("verbose", "show_thinking", "hide_tool_calls", "raw")),
    _DEBUG,
)
CHAT_OPTIONS: tuple[click.Option, ...] = (*_ROUND_OPTIONS, *ACCESS_OPTIONS, *_DISPLAY_OPTIONS)
