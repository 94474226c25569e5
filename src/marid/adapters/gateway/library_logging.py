"""The libraries behind the gateway say nothing of their own: what they would say may hold a key, and stderr is ours."""

import logging
import re
import warnings

# Filters that stay: catching warnings around an exchange would catch those of all threads. Warnings about the source
# of a library, when a newer Python compiles it for the first time, come under the name of its file.
_MODULES = r"(?:pydantic_ai|openai|anthropic|httpx2|.*google[./\\]genai)\b"
_WARNINGS = (("", _MODULES), ("Pydantic serializer warnings", r"pydantic\."))
# The clients write to stderr what they send and get when OPENAI_LOG or ANTHROPIC_LOG says so.
_LOGGERS = ("openai", "anthropic", "google_genai", "google.auth", "httpx2", "httpcore2", "pydantic_ai")


def silence_libraries() -> None:
    """Ignore the libraries' warnings and logs, in the whole process. May be called any number of times."""
    for message, module in _WARNINGS:
        known = ("ignore", re.compile(message, re.IGNORECASE) if message else None, Warning, re.compile(module), 0)
        if known not in warnings.filters:
            warnings.filterwarnings("ignore", message=message, module=module)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
