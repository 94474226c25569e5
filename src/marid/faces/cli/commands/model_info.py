"""`marid model-info`: what is known of one model, as TOML for models.toml."""

import json

import click

from marid.app.app import App
from marid.app.model_info import as_toml, find_model_info
from marid.faces.cli.view.entry_text import print_untrusted

_HELP = """Tell what is known of a model: `provider:model`, or a model of the first provider that knows it.

The output is TOML that fits into models.toml; --full adds, as comments, what else the provider tells.
"""


def show_model(app: App, name: str, *, full: bool = False, as_json: bool = False) -> int:
    """Print it: the exit code. Raises: NotFound when nobody knows it; when one could not be asked, what it raised."""
    import anyio

    info = anyio.run(find_model_info, app, name)
    if as_json:
        told = {**info.common_fields(), **({"more": dict(info.more)} if full else {})}
        print_untrusted(json.dumps(told, indent=2, ensure_ascii=False, default=str))
    else:
        print_untrusted(as_toml(info, full=full))
    return 0


@click.command("model-info", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="MODEL")
@click.option("--full", is_flag=True, help="All that its provider tells, as comments.")
@click.option("--json", "as_json", is_flag=True, help="The same for a program.")
@click.pass_context
def command(ctx: click.Context, name: str, *, full: bool, as_json: bool) -> int:
    """Carry it out."""
    return show_model(ctx.obj(), name, full=full, as_json=as_json)
