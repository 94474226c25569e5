import json
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fakes.apps import display_scope
from fakes.model import FakeModel
from fakes.program import Program
from fakes.terminal import terminal
from marid.core.errors import MaridError, NotFound, Refused, Unavailable
from marid.core.model_io import ModelInfo
from marid.core.settings.values import make_settings
from marid.faces.cli.commands.models import model_info, models
from marid.faces.cli.operations.model_views import list_models, show_model


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
    with models.make_context("models", ["--provider", "offline"], obj=lambda: scope) as ctx:
        assert models.invoke(ctx) == 0
        option = next(param for param in models.params if param.name == "provider")
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


ODD = ModelInfo(
    id='odd"name\x7f',
    provider="fake",
    name="Odd\nOne",
    context_window=8192,
    max_output=512,
    input_price=0.15,
    more={"id": "odd", "top": {"b": [1, 2]}},
)


class Knowing(FakeModel):
    async def info(self, name: str) -> ModelInfo:
        return ODD


def test_the_output_is_toml_for_models_toml(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = display_scope(tmp_path, None, Knowing())
    with model_info.make_context("model-info", ["any"], obj=lambda: scope) as ctx:
        assert model_info.invoke(ctx) == 0
    text = capfd.readouterr().out
    assert tomllib.loads(text) == {"models": {ODD.id: {"context_window": 8192, "api": {"max_tokens": 512}}}}
    assert "#" not in text


def test_the_full_form_adds_what_the_provider_tells(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    show_model(display_scope(tmp_path, None, Knowing()), "any", full=True)
    text = capfd.readouterr().out
    assert tomllib.loads(text)["models"][ODD.id]["context_window"] == 8192
    for line in ("# provider: fake", "# name: Odd\\nOne", "# context window: 8,192 tokens", "# top.b: [1, 2]"):
        assert line in text.splitlines()
    assert "$0.15 per MTok" in text


def test_a_program_gets_json(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    show_model(display_scope(tmp_path, None, Knowing()), "any", as_json=True)
    assert json.loads(capfd.readouterr().out)["max_output"] == 512
    show_model(display_scope(tmp_path, None, Knowing()), "any", full=True, as_json=True)
    assert json.loads(capfd.readouterr().out)["more"]["top"] == {"b": [1, 2]}


def test_a_model_that_nobody_knows_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no model"):
        show_model(display_scope(tmp_path, None, FakeModel()), "gone")


class Hostile(FakeModel):
    async def info(self, name: str) -> ModelInfo:
        return ModelInfo(id="m\x9b2J\u202e", provider="fake", more={"k": "\x7f\x9b"})


@pytest.mark.parametrize("as_json", [True, False])
def test_on_a_terminal_what_a_provider_tells_is_harmless(tmp_path: Path, *, as_json: bool) -> None:
    with terminal() as glass, redirect_stdout(glass.file):
        show_model(display_scope(tmp_path, None, Hostile()), "any", full=True, as_json=as_json)
        shown = glass.text()
    assert "\\x9b2J\\u202e" in shown
    assert not {"\x9b", "\u202e", "\x7f"} & set(shown)


@pytest.mark.parametrize("name", ["gpt-4o", "openai:gpt-4o", "anthropic:claude-sonnet-4-5", "openai/gpt-4o"])
def test_what_our_own_table_knows_needs_neither_a_provider_nor_a_key(marid: Program, name: str) -> None:
    told = marid("model-info", name)
    assert (told.code, told.err) == (0, "")
    assert "context_window = " in told.text
    assert marid("--model-metadata", name) == told


@pytest.mark.parametrize(("name", "code"), [("nonsense", 4), ("openai:nonsense", 2), ("offline:gpt-4o", 4)])
def test_what_it_does_not_know_is_told(marid: Program, name: str, code: int) -> None:
    assert marid("model-info", name).code == code
