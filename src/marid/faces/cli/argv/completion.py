"""`marid completion`: print the completion script of a shell, and answer its requests."""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete

from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import CommandLine, MissingValue, UnknownFlag, parse_command_line
from marid.faces.cli.argv.params import COMPLETERS
from marid.faces.cli.argv.shell_scripts import SHELLS, flag_prefix
from marid.faces.click_command import HelpCommand
from marid.faces.flags import FLAGS

_EXAMPLES = (
    ('eval "$(marid completion bash)"', "in ~/.bashrc"),
    ('eval "$(marid completion zsh)"', "in ~/.zshrc"),
    ("marid completion fish | source", "in ~/.config/fish/config.fish"),
)


class CompletionPoint(NamedTuple):
    """The end of an unfinished line: what is parsed of it, and the `kind` of the value that its last flag lacks."""

    line: CommandLine
    kind: str = ""


def completion_point(args: Iterable[str], commands: Collection[str]) -> CompletionPoint:
    """The point at the end of `args`; never raises. Unknown flags are skipped."""
    words = [*args]
    try:
        return CompletionPoint(parse_command_line(words, commands))
    except MissingValue as error:
        return CompletionPoint(error.line, error.kind)
    except BadInput:
        known = [word for word in words if not _is_unknown_flag(word)]
        return completion_point(known, commands) if known != words else CompletionPoint(CommandLine({}))


def _is_unknown_flag(word: str) -> bool:
    try:
        parse_command_line([word])
    except UnknownFlag:
        return True
    except BadInput:
        return False
    return False


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
    line = found.line
    open_request = partial(open_request, home=line.value("home") or None, project=line.value("project_root") or None)
    asking.ctx_args = {"obj": open_request}
    if line.command:
        rest = line.rest[:-1] if attached else line.rest
        return asking.get_completions([line.command, *rest], incomplete)
    return _line_completions(found, commands, open_request, incomplete.removeprefix(attached))


def _line_completions(
    found: CompletionPoint, commands: Collection[str], open_request: Callable[[], RequestScope], incomplete: str
) -> list[CompletionItem]:
    """Completions for a flag's value, a flag, or the name of a command."""
    if found.kind:
        offer = COMPLETERS.get(found.kind)
        ctx = click.Context(click.Command("marid"), obj=open_request)
        return offer(ctx, click.Option(["--value"]), incomplete) if offer else []
    if incomplete.startswith("-") and not found.line.has_separator:
        flags = [(spelling, flag.help) for flag in FLAGS for spelling in flag.spellings]
        return [CompletionItem(word, help=meaning) for word, meaning in flags if word.startswith(incomplete)]
    known = () if found.line.words or found.line.has_separator else commands
    return [CompletionItem(one) for one in known if one.startswith(incomplete)]


@click.command("completion", cls=HelpCommand, examples=_EXAMPLES)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for a shell."""
    return complete(ctx.find_root().command, partial(ctx.obj), "marid", ("_MARID_COMPLETE", f"{shell}_source"))
