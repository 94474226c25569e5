"""Which logs are meant."""

import pytest

from marid.core.debug_logs import DEBUG_LOGS, parse_log_names


@pytest.mark.parametrize(
    ("words", "logs"),
    [
        ((), ()),
        (("request_log", " x"), ("request-log",)),
        (("all",), DEBUG_LOGS),
        (("response-meta", "request-log"), DEBUG_LOGS),
    ],
)
def test_words_mean_logs(words: tuple[str, ...], logs: tuple[str, ...]) -> None:
    assert parse_log_names(words) == frozenset(logs)
