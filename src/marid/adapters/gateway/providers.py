"""The known providers with their addresses and dialects, and what the bundled table knows of their models."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit, urlunsplit

from marid.core.errors import BadInput
from marid.core.model_io import ModelInfo
from marid.core.settings.validation import url_problem
from marid.core.suggestions import close_matches, did_you_mean
from marid.text.json_values import is_list, is_object

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices

Dialect: TypeAlias = Literal["openai", "openrouter", "anthropic", "google"]
OFFLINE = "offline"


class KnownProvider(NamedTuple):
    """A provider that we know by name."""

    dialect: Dialect
    base_url: str
    needs_key: bool = True


KNOWN_PROVIDERS = MappingProxyType(
    {
        "openai": KnownProvider("openai", "https://api.openai.com/v1"),
        "openrouter": KnownProvider("openrouter", "https://openrouter.ai/api/v1", needs_key=False),
        "lmstudio": KnownProvider("openai", "http://localhost:1234/v1", needs_key=False),
        "ollama": KnownProvider("openai", "http://localhost:11434/v1", needs_key=False),
        "anthropic": KnownProvider("anthropic", "https://api.anthropic.com"),
        "google": KnownProvider("google", "https://generativelanguage.googleapis.com"),
    }
)

_LOCAL = ("lmstudio", "ollama")
# The providers that the table has.
_TABLES = ("openai", "openrouter", "anthropic", "google")
# For models whose window the library does not know: prefix of the name, and window.
_WINDOWS = MappingProxyType({"gemini-1.5-pro": 2_097_152, "gemini-": 1_048_576, "claude-": 200_000})


@dataclass(frozen=True, kw_only=True)
class Provider:
    """A provider as configured. The key is not in the repr, and is sent to `base_url` only."""

    id: str
    dialect: Dialect
    base_url: str
    api_key: str = field(default="", repr=False)
    login: str = field(default="", repr=False)
    """`name:password` of the address."""
    proxy: str = field(default="", repr=False)
    other_keys: tuple[str, ...] = field(default=(), repr=False)
    """Keys of other providers: never sent, but masked in messages."""

    @property
    def is_custom(self) -> bool:
        """Whether this is not the known service of that id."""
        known = KNOWN_PROVIDERS.get(self.id)
        return known is None or known.base_url != self.base_url

    @property
    def host(self) -> str:
        """The host and its port, for messages."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in messages and logs."""
        return (self.api_key, self.login, self.login.partition(":")[2], *self.other_keys)


def provider_from_settings(
    id: str = "", *, base_url: str = "", api_key: str = "", key_variable: str = ""
) -> Provider | None:
    """The provider that these settings name; None for `offline`, which is also the default.

    `key_variable` is where its key may be set. A `base_url` alone, or with an unknown id, names an OpenAI-compatible
    service. Raises: BadInput.
    """
    if id == OFFLINE or not (id or base_url or api_key):
        return None
    name = id or ("openai" if base_url else "openrouter")
    known = KNOWN_PROVIDERS.get(name)
    dialect = known.dialect if known else "openai"
    parts = urlsplit(_check_url(base_url or (known.base_url if known else ""), name))
    login, _, host = parts.netloc.rpartition("@")
    login = unquote(login)
    where = _api_root(urlunsplit(parts._replace(netloc=host)), name, dialect)
    if api_key != api_key.strip() or not all(" " <= letter <= "~" for letter in api_key):
        raise BadInput(f"api_key of provider '{name}' has a line break, a space at its end or an invalid character")
    if api_key and login and dialect in ("openai", "openrouter"):
        raise BadInput(f"provider '{name}' has both an api_key and a password in its base_url: only one can be sent")
    if known and known.needs_key and not api_key and where == known.base_url:
        variable = f"{key_variable}, or " if key_variable else ""
        raise BadInput(f"provider '{name}' needs a key: set {variable}api_key in config.toml")
    return Provider(id=name, dialect=dialect, base_url=where, api_key=api_key, login=login)


def _api_root(url: str, name: str, dialect: Dialect) -> str:
    """The address to which the dialect's paths are appended; users write it with and without the version."""
    if dialect in ("anthropic", "google"):
        return url.removesuffix("/v1").removesuffix("/v1beta")
    return f"{url}/v1" if name in _LOCAL and not urlsplit(url).path else url


def _check_url(url: str, name: str) -> str:
    if not url:
        known = (OFFLINE, *KNOWN_PROVIDERS)
        hint = did_you_mean(close_matches(name, known)) or f": set its base_url, or use one of {', '.join(known)}"
        raise BadInput(f"unknown provider '{name}'{hint}")
    if problem := url_problem(url):
        raise BadInput(f"base_url of provider '{name}' {problem}")
    if not url.isascii():
        import httpx2  # heavy, and few addresses have such letters

        try:
            httpx2.URL(url)
        except httpx2.InvalidURL:
            raise BadInput(f"base_url of provider '{name}' has an invalid host name") from None
    return url.rstrip("/")


def error_message(body: object) -> str:
    """The message of an error, which each dialect nests at another depth."""
    while True:
        if is_list(body):
            body = body[0] if body else ""
        elif is_object(body):
            body = body.get("message") or body.get("error") or body.get("detail")
        else:
            return body if isinstance(body, str) else ""


def provider_of_model(name: str) -> str:
    """The provider whose models the bundled table lists under that name, or ""."""
    tables = (id for id in _TABLES if id != "openrouter" or "/" in name)
    services = (
        Provider(id=id, dialect=KNOWN_PROVIDERS[id].dialect, base_url=KNOWN_PROVIDERS[id].base_url) for id in tables
    )
    return next((one.id for one in services if find_known_model(one, name)), "")


def find_known_model(provider: Provider, name: str) -> ModelInfo | None:
    """A model of `provider` in the bundled table; the first use takes a quarter of a second."""
    table = _table(provider, name)
    if not table:
        return None
    from genai_prices.data_snapshot import get_snapshot  # a table of 1.5 MB

    try:
        _, found = get_snapshot().find_provider_model(name, None, table, None)
    except LookupError:
        return None
    bare = name.rpartition("/")[2]
    window = next((window for start, window in _WINDOWS.items() if bare.startswith(start)), 0)
    prices = found.get_prices(datetime.fromtimestamp(time.time(), UTC))
    return ModelInfo(
        id=name,
        provider=provider.id,
        name=found.name or "",
        context_window=found.context_window or window,
        input_price=_price_number(prices.input_mtok),
        output_price=_price_number(prices.output_mtok),
    )


def _table(provider: Provider, name: str) -> str:
    """The service behind a custom URL is a guess: OpenRouter's model names have a slash."""
    if provider.is_custom and provider.dialect == "openai":
        return "openrouter" if "/" in name else "openai"
    return provider.id if provider.id in _TABLES else ""


def _price_number(price: "object | TieredPrices") -> float | None:
    """A price as a number; the lowest tier of one that grows with the request."""
    step: object = getattr(price, "base", price)
    return None if step is None else float(str(step))
