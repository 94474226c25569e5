"""The libraries are silent."""

import logging
import warnings
from io import StringIO

import pytest

from fakes.model import DIALECTS, KEY, asking, events_of, gateway_to
from marid.adapters.gateway.library_logging import silence_libraries
from marid.adapters.gateway.providers import Dialect
from marid.testing import Insert, ModelServer, say

_ODD = (
    b'data: {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": '
    b'[{"index": 0, "delta": {"content": {"k": "%s"}, "reasoning": {"k": 7}}}]}\n\n'
)
ODD = _ODD % KEY.encode()


@pytest.mark.parametrize(
    ("message", "module"),
    [
        ("Sampling parameters are not supported", "pydantic_ai.models.openai"),
        ("Pydantic serializer warnings:\n  of a key", "pydantic.main"),
        ("any", "google.genai.types"),
        ('"\\d" is an invalid escape sequence', "/somewhere/google/genai/types"),
    ],
)
def test_warnings_of_the_libraries_are_ignored(message: str, module: str) -> None:
    silence_libraries()
    warnings.warn_explicit(message, UserWarning, f"{module}.py", 1, module=module)


@pytest.mark.parametrize("module", ["pydantic.main", "marid.core.model_io", "openair"])
def test_warnings_of_others_are_not(module: str) -> None:
    silence_libraries()
    with pytest.warns(UserWarning, match="mine"):
        warnings.warn_explicit("mine", UserWarning, f"{module}.py", 1, module=module)


def test_being_hushed_again_adds_nothing() -> None:
    silence_libraries()
    before = list(warnings.filters)
    silence_libraries()
    assert list(warnings.filters) == before


def test_logs_of_the_libraries_go_nowhere() -> None:
    silence_libraries()
    written = StringIO()
    handler = logging.StreamHandler(written)
    logging.getLogger().addHandler(handler)
    try:
        for name in ("openai._base_client", "anthropic._base_client", "httpx2", "google_genai.models"):
            logging.getLogger(name).critical("the key is %s", KEY)
    finally:
        logging.getLogger().removeHandler(handler)
    assert written.getvalue() == ""


@pytest.mark.parametrize("dialect", DIALECTS[:2])
def test_an_answer_of_an_odd_shape_warns_nobody(dialect: Dialect, recwarn: pytest.WarningsRecorder) -> None:
    with ModelServer([say("!", faults=[Insert(data=ODD)])]) as server:
        events_of(gateway_to(server, dialect), asking(dialect))
    assert [str(warning.message) for warning in recwarn if KEY in str(warning.message)] == []
