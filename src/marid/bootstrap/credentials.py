"""Keys of providers: where they are looked for, and what may appear in no log."""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

from marid.core.settings.values import Settings

# What is shorter is a word in the place of a key: hiding it everywhere would hide ordinary text.
_MIN_KEY_LENGTH = 8
# Where the services' own programs look for a key; used only for the provider that is named.
_VARIABLES = MappingProxyType(
    {
        "openai": ("OPENAI_API_KEY",),
        "openrouter": ("OPENROUTER_API_KEY",),
        "anthropic": ("ANTHROPIC_API_KEY",),
        "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    }
)


def environment_key(provider: str, environ: Mapping[str, str]) -> str:
    """The key of a provider that a variable holds, or ""."""
    return next(filter(None, (environ.get(name) for name in _VARIABLES.get(provider, ()))), "")


def provider_row(settings: Settings) -> Mapping[str, str]:
    """The address and the key of the default provider."""
    return {"base_url": settings.model.base_url, "api_key": settings.model.api_key}


def provider_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every key and password of a provider that is set anywhere."""
    found = [environ.get(name, "") for names in _VARIABLES.values() for name in names]
    for row in (provider_row(settings), *settings.model.providers.values()):
        found += [row.get("api_key", ""), _password(row.get("base_url", ""))]
    return tuple(dict.fromkeys(key for key in found if len(key) >= _MIN_KEY_LENGTH))


def _password(url: str) -> str:
    login, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    return unquote(login.partition(":")[2]) if at else ""
