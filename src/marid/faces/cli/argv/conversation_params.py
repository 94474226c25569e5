"""The name of a conversation as an argument or option of a command; `-C` before the command sets it too."""

from typing import TypeVar

import click
from click.core import ParameterSource

from marid.faces.cli.argv.completion_values import complete_conversation
from marid.text.conversation_names import check_conversation_name

_Value = TypeVar("_Value", str, "tuple[str, ...]")


def reject_empty_name(ctx: click.Context, param: click.Parameter, value: _Value) -> _Value:
    """A click callback: an omitted name means the current conversation; an empty one, as of an unset shell variable, is
    an error. Raises: BadInput.
    """
    names = (value,) if isinstance(value, str) else value
    if "" in names and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        check_conversation_name("")
    return value


class ConversationArgument(click.Argument):
    """One name, or several with `nargs=-1`. Without `required` it may be omitted: the current conversation."""

    def __init__(self, name: str = "conversation", *extra: str, required: bool = False, nargs: int = 1) -> None:
        shown = "NAME" if required else "[NAME]"
        super().__init__(
            [name],
            required=required,
            nargs=nargs,
            metavar=shown if nargs == 1 else f"{shown}...",
            shell_complete=complete_conversation("-", *extra),
            callback=reject_empty_name,
            # For click even None is a default, and a parameter with a default is never missing.
            **({} if required or nargs != 1 else {"default": ""}),
        )


class ConversationOption(click.Option):
    """`-C NAME`, for a command whose arguments are something else."""

    def __init__(self, help: str, *extra: str) -> None:
        super().__init__(
            ["-C", "--conversation"],
            default="",
            metavar="NAME",
            help=help,
            shell_complete=complete_conversation("-", *extra),
            callback=reject_empty_name,
        )
