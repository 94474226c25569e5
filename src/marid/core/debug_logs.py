"""The logs of model requests that can be switched on."""

from collections.abc import Iterable

DEBUG_LOGS = ("request-log", "response-meta")


def parse_log_names(words: Iterable[str]) -> frozenset[str]:
    """The logs that these words name, with dashes or underscores; `all` names every log."""
    meant = {word.strip().replace("_", "-") for word in words}
    return frozenset(DEBUG_LOGS if "all" in meant else meant.intersection(DEBUG_LOGS))
