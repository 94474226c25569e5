"""Which logs are meant."""

import pytest

from marid.core.logs import LOGS, logs_of


@pytest.mark.parametrize(
    ("words", "logs"),
    [((), ()), (("request_log", " x"), ("request-log",)), (("all",), LOGS), (("response-meta", "request-log"), LOGS)],
)
def test_words_mean_logs(words: tuple[str, ...], logs: tuple[str, ...]) -> None:
    assert logs_of(words) == frozenset(logs)
