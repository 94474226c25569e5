"""What the providers and our own table say about a model."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast

from marid.app.app import RequestScope
from marid.core.errors import MaridError, NotFound
from marid.core.model_io import ModelInfo
from marid.core.settings.schema import PROVIDERS
from marid.text.display import escape_text


async def find_model_info(scope: RequestScope, name: str) -> ModelInfo:
    """Ask the configured providers in order, for `provider:model` only that one; then our table of other services.

    Raises: NotFound if none has the model; what a provider raised that could not be asked.
    """
    settings = scope.within("", {"model": name}).settings
    bare = settings.model.name or name
    providers = scope.app.providers(settings)
    named = name == f"{settings.model.provider}:{bare}"
    if named:
        providers = providers[:1]
    failed: list[MaridError] = []
    for provider in providers:
        try:
            return await provider.info(bare)
        except MaridError as error:
            failed.append(error)
    if not named and (found := await _bundled_info(scope, name)):
        return found
    troubles = [error for error in failed if not isinstance(error, NotFound)]
    if troubles or len(failed) == 1:
        raise (troubles or failed)[0]
    asked = ", ".join(dict.fromkeys(one.provider for one in providers))
    raise NotFound(f"no model '{name}': none of {asked} knows it")


async def _bundled_info(scope: RequestScope, name: str) -> ModelInfo | None:
    """From our table, without a request."""
    for id in PROVIDERS:
        service = scope.app.providers(scope.within("", {"model": f"{id}:{name}"}).settings)[0]
        if service.provider == id and await scope.threads.run_shielded(partial(service.context_window, name)):
            return await service.info(name)
    return None


def as_toml(info: ModelInfo, *, full: bool = False) -> str:
    """Text that fits into models.toml; `full` adds the provider's other fields as comments."""
    return "\n".join([*(_comments(info) if full else ()), *_table(info)])


def _table(info: ModelInfo) -> Iterator[str]:
    name = f"models.{_quote_key(info.id)}"
    yield f"[{name}]"
    if info.context_window:
        yield f"context_window = {info.context_window}"
    if info.max_output:
        yield ""
        yield f"[{name}.api]"
        yield f"max_tokens = {info.max_output}"


def _comments(info: ModelInfo) -> Iterator[str]:
    prices = {"input": info.input_price, "output": info.output_price}
    known = {
        "provider": info.provider,
        "name": info.name,
        **{word: f"${price:.2f} per MTok" for word, price in prices.items() if price is not None},
        "context window": f"{info.context_window:,} tokens" if info.context_window else "",
        **dict(sorted(_flatten(info.more))),
    }
    yield from (f"# {escape_text(name)}: {escape_text(text)}" for name, text in known.items() if text)


def _flatten(more: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Every field with the names of its tables before it."""
    for name, value in more.items():
        if isinstance(value, Mapping):
            yield from _flatten(cast("Mapping[str, Any]", value), f"{before}{name}.")
        else:
            yield f"{before}{name}", value if isinstance(value, str) else json.dumps(value, default=str)


def _quote_key(key: str) -> str:
    """As TOML writes it, whatever is in it."""
    return json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")
