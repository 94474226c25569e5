"""`marid models` and `marid model-info`."""

import click

from marid.app.app import RequestScope
from marid.faces.cli.argv.params import complete_from
from marid.faces.cli.operations.model_views import list_models, show_model
from marid.faces.click_command import ScopedCommand


def _providers(ctx: click.Context) -> list[str]:
    scope: RequestScope = ctx.obj()
    return [one.provider for one in scope.app.providers(scope.settings)]


_PROVIDER = complete_from(_providers)


@click.command(cls=ScopedCommand)
@click.option("--provider", default="", metavar="ID", help="List only its models.", shell_complete=_PROVIDER)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(scope: RequestScope, provider: str, *, as_json: bool) -> int:
    """List the models of the configured providers, as they are named in `model = "provider:model"`.

    Shows the context window, the longest answer, and the price of a million tokens in and out, where known. A provider
    that fails is reported, and the others are listed. `offline` is always available.
    """
    return list_models(scope, provider, as_json=as_json)


@click.command("model-info", cls=ScopedCommand)
@click.argument("name", metavar="MODEL")
@click.option("--full", is_flag=True, help="Add everything else that the provider reports, as comments.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def model_info(scope: RequestScope, name: str, *, full: bool, as_json: bool) -> int:
    """Show what is known about a model, as TOML for models.toml.

    MODEL is `provider:model`, or a name that each provider is asked about in turn.
    """
    return show_model(scope, name, full=full, as_json=as_json)
