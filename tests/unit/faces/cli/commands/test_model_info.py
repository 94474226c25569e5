"""What is known of one model, as TOML."""

import json
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fakes.apps import display_scope
from fakes.model import FakeModel
from fakes.program import Program
from fakes.terminal import terminal
from marid.core.errors import NotFound
from marid.core.model_io import ModelInfo
from marid.faces.cli.commands.model_info import command, show_model

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
    assert show_model(display_scope(tmp_path, None, Knowing()), "any") == 0
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


def test_the_command_takes_a_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = display_scope(tmp_path, None, Knowing())
    with command.make_context("model-info", ["any"], obj=lambda: scope) as ctx:
        assert command.invoke(ctx) == 0
    assert capfd.readouterr().out.startswith("[models.")


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
