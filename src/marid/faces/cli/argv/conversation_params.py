"""The name of a conversation as an argument or option of a command: what `-C` before the command stands for."""

from typing import TypeVar

import click
from click.core import ParameterSource

from marid.faces.cli.argv.completion_values import complete_conversation
from marid.text.conversation_names import check_conversation_name

_Value = TypeVar("_Value", str, "tuple[str, ...]")


def reject_empty_name(ctx: click.Context, param: click.Parameter, value: _Value) -> _Value:
    """A callback: left out, a name means the current conversation; written and empty, as an unset variable of a shell
    is, it means none.

    Raises: BadInput.
    """
    names = (value,) if isinstance(value, str) else value
    if "" in names and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        check_conversation_name("")
    return value


class ConversationArgument(click.Argument):
    """One name, or with `nargs` -1 several; where it is not `required`, none means the current conversation."""

    def __init__(self, name: str = "conversation", *extra: str, required: bool = False, nargs: int = 1) -> None:
        shown = "NAME" if required else "[NAME]"
        super().__init__(
            [name],
            required=required,
            nargs=nargs,
            metavar=shown if nargs == 1 else f"{shown}...",
            shell_complete=complete_conversation("-", *extra),
            callback=reject_empty_name,
            # To click, even None is a default, and what has one is never missing.
            **({} if required or nargs != 1 else {"default": ""}),
        )


class ConversationOption(click.Option):
    """`-C NAME`, for a command whose words are something else."""

    def __init__(self, help: str, *extra: str) -> None:
        super().__init__(
            ["-C", "--conversation"],
            default="",
            metavar="NAME",
            help=help,
            shell_complete=complete_conversation("-", *extra),
            callback=reject_empty_name,
        )
