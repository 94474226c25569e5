"""Parameters of click commands: names of conversations, and flags of the program, with completion of their values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from marid.app.conversations import conversation_names
from marid.core.policy.policy import HARMLESS_EFFECTS, Effect
from marid.faces.cli.argv.option_tables import PlainOption
from marid.faces.click_command import Completer, click_option
from marid.faces.flags import ACCESS_FLAGS, DEBUG_KEYS
from marid.text.conversation_names import check_conversation_name

_Value = TypeVar("_Value", str, "tuple[str, ...]")

# The effects that need approval; granting the others would change nothing.
GRANTABLE_EFFECTS = tuple(effect.value for effect in Effect if effect not in HARMLESS_EFFECTS)


def complete_list(known: Sequence[str]) -> Completer:
    """The last word of a comma-separated list."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, word = incomplete.rpartition(",")
        taken = before.split(",")
        return [CompletionItem(before + comma + one) for one in known if one.startswith(word) and one not in taken]

    return offer


def complete_path(kind: str) -> Completer:
    """A path, which the shell itself completes: `kind` is file or dir."""
    return lambda ctx, param, incomplete: [CompletionItem(incomplete, type=kind)]


def complete_choice(known: Sequence[str]) -> Completer:
    """One of `known`."""
    return lambda ctx, param, incomplete: [CompletionItem(one) for one in known if one.startswith(incomplete)]


def complete_parameter(about: Mapping[str, Any]) -> Completer | None:
    """The value of a tool's parameter, from its JSON schema."""
    if "enum" in about:
        return complete_choice([str(one) for one in about["enum"]])
    if about.get("type") == "boolean":
        return complete_choice(["true", "false"])
    return complete_path("file") if str(about.get("format", "")).startswith("project-path") else None


def complete_from(words: Callable[[click.Context], Iterable[str]]) -> Completer:
    """One of the words that are found when a shell asks."""
    return lambda ctx, param, incomplete: complete_choice([*words(ctx)])(ctx, param, incomplete)


def complete_conversation(*extra: str) -> Completer:
    """The name of a conversation, or one of `extra`."""
    return complete_from(lambda ctx: (*extra, *conversation_names(ctx.obj())))


def _complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of tools that work outside of a conversation."""
    from marid.app.tool_session import list_tools  # imported when used: only a few commands are about tools

    return complete_list([name for name, _ in list_tools(ctx.obj())])(ctx, param, incomplete)


def _inspection():
    from marid.app import inspection  # imported when used: it brings the table of settings

    return inspection


COMPLETERS: Mapping[str, Completer] = MappingProxyType(
    {
        "name": complete_conversation(),
        "previous": complete_conversation("-"),
        "any": complete_conversation("-", "new", "new:"),
        "thing": complete_from(lambda ctx: _inspection().inspectable_names()),
        "setting": complete_from(lambda ctx: [f"{key}=" for key in _inspection().setting_keys()]),
        "effects": complete_list(GRANTABLE_EFFECTS),
        "keys": complete_list(DEBUG_KEYS),
        "tool": _complete_tool,
        "tools": lambda ctx, param, word: complete_list(ctx.obj().toolbox.inventory.names())(ctx, param, word),
        "file": complete_path("file"),
        "path": complete_path("file"),
        "folder": complete_path("dir"),
    }
)


def option_with_completion(name: str, *spellings: str) -> click.Option:
    """The flag of that name as an option, with further `spellings`."""
    return click_option(name, *spellings, completers=COMPLETERS)


ACCESS_OPTIONS = tuple(map(option_with_completion, ACCESS_FLAGS))


def plain_option(option: PlainOption) -> click.Option:
    """An option of a command that starts without click."""
    if option.kind == "flag":
        return click.Option([*option.flags, option.name], is_flag=True, help=option.help)
    kind: Any = {"int": click.INT, "float": click.FLOAT}.get(option.kind)
    more: dict[str, Any] = {"multiple": True, "default": ()} if option.multiple else {"default": option.default}
    if option.choices:
        kind, more["show_default"] = click.Choice(option.choices), True
    elif option.file:
        kind = click.Path(allow_dash=True)
    metavar = None if option.choices else option.metavar
    return click.Option([*option.flags, option.name], help=option.help, type=kind, metavar=metavar, **more)


def json_option(help: str = "Print JSON.", name: str = "as_json") -> click.Option:
    """`--json`."""
    return click.Option(["--json", name], is_flag=True, help=help)


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
    """`-C NAME`, for a command whose arguments are something else; `-C` before the command sets it too."""

    def __init__(self, help: str, *extra: str) -> None:
        offered = complete_conversation("-", *extra)
        names = ["-C", "--conversation"]
        super().__init__(
            names, default="", metavar="NAME", help=help, shell_complete=offered, callback=reject_empty_name
        )


def names_argument(name: str, metavar: str, completer: Completer | None = None) -> click.Argument:
    """Words of which the first may be the name of a conversation; `-C` does not set them."""
    offered = completer or complete_conversation("-")
    return click.Argument(
        [name], nargs=-1, required=True, metavar=metavar, shell_complete=offered, callback=reject_empty_name
    )
