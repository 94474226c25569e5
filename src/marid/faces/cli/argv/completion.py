"""`marid completion`: print the completion script of a shell, and answer its requests."""

from collections.abc import Callable, Collection
from functools import partial

import click
from click.shell_completion import CompletionItem, ShellComplete

from marid.app.app import RequestScope
from marid.faces.cli.argv.command_line import CompletionPoint, completion_point
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.argv.shared_options import COMPLETERS
from marid.faces.cli.argv.shell_scripts import SHELLS, flag_prefix
from marid.faces.flags import FLAGS

_EXAMPLES = (
    ('eval "$(marid completion bash)"', "in ~/.bashrc"),
    ('eval "$(marid completion zsh)"', "in ~/.zshrc"),
    ("marid completion fish | source", "in ~/.config/fish/config.fish"),
)


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
