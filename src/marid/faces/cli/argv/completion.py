"""`marid completion`: print the completion script of a shell, and answer its requests."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete

from marid.app.app import RequestScope
from marid.faces.cli.argv.command_line import is_flag
from marid.faces.cli.argv.params import COMPLETERS
from marid.faces.cli.argv.shell_scripts import SHELLS, flag_prefix
from marid.faces.click_command import HelpCommand
from marid.faces.flags import FLAGS, Flag, Value

_EXAMPLES = (
    ('eval "$(marid completion bash)"', "in ~/.bashrc"),
    ('eval "$(marid completion zsh)"', "in ~/.zshrc"),
    ("marid completion fish | source", "in ~/.config/fish/config.fish"),
)


class CompletionPoint(NamedTuple):
    """What the next word of an unfinished line would be: a flag's value (`kind`), an argument of `command`, or neither.

    If `free`, it may be a flag; if `first`, a command. `home` and `project` are those given on the line.
    """

    kind: str = ""
    command: str = ""
    rest: tuple[str, ...] = ()
    free: bool = True
    first: bool = True
    home: str = ""
    project: str = ""


def completion_point(args: Iterable[str], commands: Collection[str]) -> CompletionPoint:
    """The point at the end of `args`; never raises."""
    flags = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
    rest = list(args)
    found = CompletionPoint()
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            return found._replace(free=False, first=False)
        if not is_flag(arg):
            if found.first and arg in commands:
                return found._replace(command=arg, rest=tuple(rest))
            found = found._replace(first=False)
            continue
        values = _expected_values(arg, flags)
        if len(rest) < len(values):
            return found._replace(kind=values[len(rest)].kind)
        name, _, attached = arg.partition("=")
        if name in ("--home", "--project-root"):
            found = found._replace(**{name[2:].removesuffix("-root"): attached or "".join(rest[:1])})
        del rest[: len(values)]
    return found


def _expected_values(arg: str, flags: Mapping[str, Flag]) -> tuple[Value, ...]:
    """The values that a flag, or the last of several letters, takes after the one attached to it."""
    name, attached = arg.partition("=")[0], "=" in arg
    if not arg.startswith("--"):
        takes = [at for at, letter in enumerate(arg) if at and (flag := flags.get(f"-{letter}")) and flag.values]
        at = takes[0] if takes else 1
        name, attached = f"-{arg[at]}", at < len(arg) - 1
    flag = flags.get(name)
    if flag is None:
        return ()
    return flag.values[1:] if attached else flag.values


def complete(
    command: click.Command, open_request: Callable[..., RequestScope], name: str, asked: tuple[str, str]
) -> int:
    """Answer a shell: `asked` is the name of its environment variable, and the value."""
    variable, instruction = asked
    shell, _, what = instruction.partition("_")
    kind = SHELLS.get(shell)
    if kind is None or what not in ("source", "complete"):
        return 1
    asking = kind(command, {"obj": open_request}, name, variable)
    if what == "source":
        # Only the template: `source()` starts bash to check its version, and not every machine has bash.
        click.echo(asking.source_template % asking.source_vars())
        return 0
    args, incomplete = asking.get_completion_args()
    for item in _completions(asking, open_request, args, incomplete):
        click.echo(asking.format_completion(item))
    return 0


def _completions(
    asking: ShellComplete, open_request: Callable[..., RequestScope], args: list[str], incomplete: str
) -> list[CompletionItem]:
    if not isinstance(asking.cli, click.Group):
        return asking.get_completions(args, incomplete)
    commands = asking.cli.list_commands(click.Context(asking.cli))
    attached = flag_prefix(incomplete)
    found = completion_point([*args, attached.removesuffix("=")] if attached else args, commands)
    open_request = partial(open_request, home=found.home or None, project=found.project or None)
    asking.ctx_args = {"obj": open_request}
    if found.command:
        rest = found.rest[:-1] if attached else found.rest
        return asking.get_completions([found.command, *rest], incomplete)
    return _line_completions(found, commands, open_request, incomplete.removeprefix(attached))


def _line_completions(
    found: CompletionPoint, commands: Collection[str], open_request: Callable[[], RequestScope], incomplete: str
) -> list[CompletionItem]:
    """Completions for a flag's value, a flag, or the name of a command."""
    if found.kind:
        offer = COMPLETERS.get(found.kind)
        ctx = click.Context(click.Command("marid"), obj=open_request)
        return offer(ctx, click.Option(["--value"]), incomplete) if offer else []
    if incomplete.startswith("-") and found.free:
        flags = [(spelling, flag.help) for flag in FLAGS for spelling in flag.spellings]
        return [CompletionItem(word, help=meaning) for word, meaning in flags if word.startswith(incomplete)]
    known = commands if found.first else ()
    return [CompletionItem(one) for one in known if one.startswith(incomplete)]


@click.command("completion", cls=HelpCommand, examples=_EXAMPLES)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for a shell."""
    return complete(ctx.find_root().command, partial(ctx.obj), "marid", ("_MARID_COMPLETE", f"{shell}_source"))
