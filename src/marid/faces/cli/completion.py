"""`marid completion`: the script that a shell needs to complete our command line."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

_SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script of a shell.

    \b
    bash  eval "$(marid completion bash)"    # in ~/.bashrc
    zsh   eval "$(marid completion zsh)"     # in ~/.zshrc
    fish  marid completion fish > ~/.config/fish/completions/marid.fish
    """
    script = _SHELLS[shell](ctx.find_root().command, {}, "marid", "_MARID_COMPLETE")
    # The template alone: `source()` starts a bash to ask its version, which not every machine has.
    click.echo(script.source_template % script.source_vars())
    return 0
