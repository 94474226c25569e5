"""`marid model-info`: what is known about a model, as TOML for models.toml."""

import json

import click

from marid.app.app import RequestScope
from marid.app.model_info import as_toml, find_model_info
from marid.faces.cli.argv.help_command import HelpCommand
from marid.faces.cli.view.entry_text import print_untrusted


def show_model(scope: RequestScope, name: str, *, full: bool = False, as_json: bool = False) -> int:
    """Print it and return the exit code. Raises: NotFound; or the error of a provider that could not be asked."""
    import anyio

    info = anyio.run(find_model_info, scope, name)
    if as_json:
        fields = {**info.common_fields(), **({"more": dict(info.more)} if full else {})}
        print_untrusted(json.dumps(fields, indent=2, ensure_ascii=False, default=str))
    else:
        print_untrusted(as_toml(info, full=full))
    return 0


@click.command("model-info", cls=HelpCommand)
@click.argument("name", metavar="MODEL")
@click.option("--full", is_flag=True, help="Add everything else that the provider reports, as comments.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, name: str, *, full: bool, as_json: bool) -> int:
    """Show what is known about a model, as TOML for models.toml.

    MODEL is `provider:model`, or a name that each provider is asked about in turn.
    """
    return show_model(ctx.obj(), name, full=full, as_json=as_json)
