"""What the configured providers offer, and what is known about one model."""

import json
import sys
from collections.abc import Sequence

import anyio

from marid.app.app import RequestScope
from marid.app.model_info import as_toml, find_model_info
from marid.core.errors import MaridError, NotFound
from marid.core.model_io import ModelInfo
from marid.faces.cli.view.console import print_line, print_note, print_untrusted
from marid.faces.cli.view.greeting import bold
from marid.text.display import escape_text


def show_model(scope: RequestScope, name: str, *, full: bool = False, as_json: bool = False) -> int:
    """Print what is known about a model. Raises: NotFound; or the error of a provider that could not be asked."""
    info = anyio.run(find_model_info, scope, name)
    if as_json:
        fields = {**info.common_fields(), **({"more": dict(info.more)} if full else {})}
        print_untrusted(json.dumps(fields, indent=2, ensure_ascii=False, default=str))
    else:
        print_untrusted(as_toml(info, full=full))
    return 0


def list_models(scope: RequestScope, provider: str = "", *, as_json: bool = False) -> int:
    """Print them and return the exit code. Raises: NotFound for an unknown provider; the first error if all fail."""
    found, failed = _fetch_models(scope, provider)
    for id, error in failed if found else failed[1:]:
        print_note(f"{id}: {error}")
    if failed and not found:
        raise failed[0][1]
    if as_json:
        print_untrusted(json.dumps([info.common_fields() for _, info in found], indent=2, ensure_ascii=False))
    else:
        _table(found, scope if sys.stdout.isatty() else scope._replace(colour=False))
    return 0


def _fetch_models(scope: RequestScope, only: str) -> tuple[list[tuple[str, ModelInfo]], list[tuple[str, MaridError]]]:
    """Ask all providers at once. Returns their models under the names that select them, and the failures."""
    providers = scope.app.providers(scope.settings)
    asked = [one for one in providers if only in ("", one.provider)]
    if not asked:
        raise NotFound(f"no provider '{only}' is configured; there are {', '.join(one.provider for one in providers)}")
    offers: dict[int, Sequence[ModelInfo]] = {}
    failed: dict[int, MaridError] = {}

    async def ask(number: int) -> None:
        try:
            offers[number] = sorted(await asked[number].models(), key=lambda info: info.id)
        except MaridError as error:
            failed[number] = error

    async def ask_all() -> None:
        async with anyio.create_task_group() as group:
            for number in range(len(asked)):
                group.start_soon(ask, number)

    anyio.run(ask_all)
    # A provider configured by its address alone has no id: its models are selected by name only.
    unnamed = providers[0] if scope.settings.model.base_url and not scope.settings.model.provider else None
    found = [
        (info.id if one is unnamed else f"{info.provider}:{info.id}", info)
        for number, one in enumerate(asked)
        for info in offers.get(number, ())
    ]
    return found, [(one.provider, failed[number]) for number, one in enumerate(asked) if number in failed]


def _table(found: list[tuple[str, ModelInfo]], scope: RequestScope) -> None:
    rows = [("model", "window", "answer", "$ in", "$ out"), *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        line = "  ".join(cells).rstrip()
        print_line(line if number else bold(line, scope))


def _row(named: tuple[str, ModelInfo]) -> tuple[str, str, str, str, str]:
    name, info = named
    prices = ("" if price is None else f"{price:.2f}" for price in (info.input_price, info.output_price))
    tokens = (f"{count:,}" if count else "" for count in (info.context_window, info.max_output))
    return (escape_text(name), *tokens, *prices)  # pyright: ignore[reportReturnType] - five
