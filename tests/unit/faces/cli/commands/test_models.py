"""What providers offer."""

import json
from pathlib import Path

import pytest

from fakes.apps import display_scope
from fakes.model import FakeModel
from marid.core.errors import MaridError, NotFound, Refused, Unavailable
from marid.core.model_io import ModelInfo
from marid.core.settings.values import make_settings
from marid.faces.cli.commands.models import command, list_models


class Offering(FakeModel):
    """A provider with a list, or one that fails."""

    def __init__(self, provider: str, offer: tuple[ModelInfo, ...] | MaridError) -> None:
        super().__init__()
        self.provider = provider
        self._offer = offer

    async def models(self) -> tuple[ModelInfo, ...]:
        if isinstance(self._offer, MaridError):
            raise self._offer
        return self._offer


BIG = ModelInfo(id="big", provider="here", context_window=128_000, max_output=4096, input_price=0.5, output_price=10)
SMALL = ModelInfo(id="a\x1bsmall", provider="here")
HERE = Offering("here", (BIG, SMALL))
DOWN = Offering("down", Unavailable("'down' cannot be reached"))
OFFLINE = Offering("offline", (ModelInfo(id="offline", provider="offline"),))


def test_models_are_listed_by_provider_and_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert list_models(display_scope(tmp_path, None, HERE, OFFLINE)) == 0
    assert [line.split() for line in capfd.readouterr().out.splitlines()] == [
        ["model", "window", "answer", "$", "in", "$", "out"],
        ["here:a\\x1bsmall"],
        ["here:big", "128,000", "4,096", "0.50", "10.00"],
        ["offline:offline"],
    ]


def test_a_provider_that_fails_is_told_and_the_others_are_listed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert list_models(display_scope(tmp_path, None, DOWN, OFFLINE)) == 0
    said = capfd.readouterr()
    assert "offline:offline" in said.out
    assert said.err == "marid: down: 'down' cannot be reached\n"


def test_when_all_fail_it_is_a_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refused):
        list_models(display_scope(tmp_path, None, Offering("refusing", Refused("no key"))))
    assert capfd.readouterr() == ("", "")


def test_only_one_provider_is_asked_if_wanted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    list_models(display_scope(tmp_path, None, DOWN, HERE), "here")
    said = capfd.readouterr()
    assert "here:big" in said.out
    assert said.err == ""
    with pytest.raises(NotFound, match="no provider 'gone' is configured; there are down, here"):
        list_models(display_scope(tmp_path, None, DOWN, HERE), "gone")


def test_a_program_gets_all_fields(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    list_models(display_scope(tmp_path, None, HERE), as_json=True)
    small, big = json.loads(capfd.readouterr().out)
    assert (big["id"], big["provider"], big["context_window"], big["input_price"]) == ("big", "here", 128_000, 0.5)
    assert (small["context_window"], small["output_price"]) == (None, None)


def test_the_command_lists_them_and_completes_providers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = display_scope(tmp_path, None, HERE, OFFLINE)
    with command.make_context("models", ["--provider", "offline"], obj=lambda: scope) as ctx:
        assert command.invoke(ctx) == 0
        option = next(param for param in command.params if param.name == "provider")
        assert [item.value for item in option.shell_complete(ctx, "of")] == ["offline"]
    assert "here:" not in capfd.readouterr().out


def test_a_service_with_an_address_only_is_told_apart_from_openai(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there = Offering("openai", (ModelInfo(id="qwen", provider="openai"),))
    real = Offering("openai", (ModelInfo(id="gpt", provider="openai"),))
    scope = display_scope(tmp_path, None, there, real)
    settings = make_settings(scope.home, base_url="http://h/v1", providers={"openai": {"api_key": "k"}})
    resolved = scope.resolve()._replace(settings=settings)
    list_models(scope._replace(resolver=lambda: resolved))
    assert [line.strip() for line in capfd.readouterr().out.splitlines()[1:]] == ["qwen", "openai:gpt"]
