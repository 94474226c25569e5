"""What can be logged of every request to a model, by name."""

from collections.abc import Iterable

DEBUG_LOGS = ("request-log", "response-meta")


def parse_log_names(words: Iterable[str]) -> frozenset[str]:
    """The logs that these words mean, which may be spelled with underscores; `all` stands for both."""
    meant = {word.strip().replace("_", "-") for word in words}
    return frozenset(DEBUG_LOGS if "all" in meant else meant.intersection(DEBUG_LOGS))
