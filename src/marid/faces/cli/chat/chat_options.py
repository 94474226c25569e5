"""The flags of commands that hold a round, and what they say."""

from typing import Any

import click
from click.core import ParameterSource

from marid.faces.access_flags import access_from_flags
from marid.faces.cli.argv.command_line import parse_debug_keys, unknown_key_warnings
from marid.faces.cli.argv.line_checks import parse_lock_timeout
from marid.faces.cli.argv.shared_options import ACCESS_OPTIONS, option_with_completion
from marid.faces.cli.chat.chat_round import ChatRequest
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
    """Keys that nobody knows are told where they are read; those before the command's name were told already."""
    if ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        for told in unknown_key_warnings(keys or ""):
            print_note(told)
    return keys


_DEBUG = option_with_completion("debug")
_DEBUG.callback = _warn_unknown_keys
_DISPLAY_OPTIONS = (
    *(option_with_completion(name) for name in ("verbose", "show_thinking", "hide_tool_calls", "raw")),
    _DEBUG,
)
CHAT_OPTIONS: tuple[click.Option, ...] = (*_ROUND_OPTIONS, *ACCESS_OPTIONS, *_DISPLAY_OPTIONS)
HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_DISPLAY_FLAGS = ("verbose", "show_thinking", "hide_tool_calls")


def chat_request(conversation: str, prompt: str, given: dict[str, Any]) -> ChatRequest:
    """What the flags say. Raises: BadInput for a setting without its value, or an effect or a time that is none."""
    display: dict[str, object] = {name: True for name in _DISPLAY_FLAGS if given.get(name)}
    if given.get("raw"):
        display["render_markdown"] = False
    return ChatRequest(
        conversation=conversation,
        prompt=prompt,
        access=access_from_flags(given),
        display=display,
        debug=parse_debug_keys(given.get("debug") or ""),
        lock_timeout=parse_lock_timeout(given.get("wait_lock") or ""),
    )
