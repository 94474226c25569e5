import tomllib
from pathlib import Path

import anyio
import pytest

from fakes.apps import display_scope
from fakes.model import FakeModel
from marid.app.model_info import as_toml, find_model_info
from marid.core.errors import NotFound, Unavailable
from marid.core.model_io import ModelInfo


class Named(FakeModel):
    """A provider with a name of its own and one model."""

    def __init__(self, provider: str, model: str) -> None:
        super().__init__(name=model)
        self.provider = provider


class Broken(Named):
    """A provider that cannot be asked."""

    async def info(self, name: str) -> ModelInfo:
        raise Unavailable("it is down")


def test_the_first_provider_that_knows_the_model_tells(tmp_path: Path) -> None:
    scope = display_scope(tmp_path, None, Named("one", "a"), Named("two", "b"))
    assert anyio.run(find_model_info, scope, "a").provider == "one"
    assert anyio.run(find_model_info, scope, "b").provider == "two"


def test_with_the_name_of_a_provider_only_that_one_is_asked(tmp_path: Path) -> None:
    scope = display_scope(tmp_path, None, Named("one", "a"), Named("two", "b"))
    assert anyio.run(find_model_info, scope, "two:b").provider == "two"
    with pytest.raises(NotFound, match="no model 'a'"):
        anyio.run(find_model_info, scope, "two:a")


def test_a_model_that_nobody_knows_is_told_with_who_was_asked(tmp_path: Path) -> None:
    scope = display_scope(tmp_path, None, Named("one", "a"), Named("two", "b"))
    with pytest.raises(NotFound, match="none of one, two knows it"):
        anyio.run(find_model_info, scope, "c")


def test_what_could_not_be_asked_is_told_instead(tmp_path: Path) -> None:
    scope = display_scope(tmp_path, None, Named("one", "a"), Broken("two", "b"))
    with pytest.raises(Unavailable, match="it is down"):
        anyio.run(find_model_info, scope, "b")


def test_what_is_known_fits_into_models_toml() -> None:
    info = ModelInfo(id='odd "name"\x7f', provider="p", context_window=1000, max_output=50)
    parsed = tomllib.loads(as_toml(info))
    assert parsed == {"models": {'odd "name"\x7f': {"context_window": 1000, "api": {"max_tokens": 50}}}}


def test_what_nobody_told_is_left_out() -> None:
    assert as_toml(ModelInfo(id="m", provider="p")) == '[models."m"]'
    assert as_toml(ModelInfo(id="m", provider="p"), full=True) == '# provider: p\n[models."m"]'


def test_all_that_is_told_stands_in_comments_whatever_it_is() -> None:
    more = {"b": "two\nlines", "a": {"deep": [1, 2], "none": None}}
    info = ModelInfo(id="m", provider="p", name="M", context_window=2000, input_price=0.5, output_price=2.0, more=more)
    assert as_toml(info, full=True).splitlines()[:8] == [
        "# provider: p",
        "# name: M",
        "# input: $0.50 per MTok",
        "# output: $2.00 per MTok",
        "# context window: 2,000 tokens",
        "# a.deep: [1, 2]",
        "# a.none: null",
        "# b: two\\nlines",
    ]
    assert tomllib.loads(as_toml(info, full=True)) == {"models": {"m": {"context_window": 2000}}}
