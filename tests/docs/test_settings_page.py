"""The settings files on the page are read as they stand there, and every setting is on it."""

import re
from pathlib import Path

from fakes.settings import SettingsFiles
from marid.core.settings.schema import SETTINGS_BY_NAME

PAGE = (Path(__file__).parents[2] / "docs" / "settings.md").read_text("utf-8")
FILES = dict(re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_the_examples_are_valid_and_do_what_the_page_says(tmp_path: Path) -> None:
    place = SettingsFiles(tmp_path)
    place.config(FILES["config.toml"])
    place.models(FILES["models.toml"])
    place.marid_toml(FILES[".marid.toml"])
    place.cli(FILES["cli.toml"])
    found = place.resolve()
    assert (found.settings.model.provider, found.settings.model.name) == ("openrouter", "openai/gpt-5-mini")
    assert (found.settings.model.window, found.settings.conversation.fuel) == (400_000, 15)
    assert found.settings.model.api == {"max_tokens": 4096}
    assert (found.settings.display.verbose, found.settings.display.markdown_style) == (True, {"h1": "#ff8800"})
    assert found.notes == ()
    place.local(FILES["local.toml"])
    own = place.resolve().settings
    assert (own.model.name, own.conversation.username, own.conversation.fuel) == ("openai/gpt-5-mini", "ada", 10)
    assert own.tools.selection == {"exclude_categories": ("net",), "exclude": ("run_shell",)}
    assert own.conversation.storage == {"partition_max_entries": 500}
    local = place.resolve({"model": "local:qwen3"}).settings
    assert (local.model.provider, local.model.base_url, local.model.api_key) == (
        "local",
        "http://localhost:1234/v1",
        "",
    )
    deep = place.resolve({"model": "deep"}).settings
    assert (deep.model.provider, deep.model.name, deep.model.api_key) == (
        "anthropic",
        "claude-sonnet-4-5",
        "another key",
    )
    assert deep.model.api == {"reasoning": {"effort": "high"}}


def test_every_setting_is_on_the_page() -> None:
    names = [name.replace("*", "ID") for name in SETTINGS_BY_NAME]
    assert [name for name in names if f"| `{name}`" not in PAGE] == []
