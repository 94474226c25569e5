import pytest

from marid.adapters.gateway.providers import KNOWN_PROVIDERS
from marid.core.settings.values import (
    CHIBI_KEYS,
    DISPLAY_SETTINGS,
    PROVIDERS,
    SETTINGS,
    UNSUPPORTED_KEYS,
    DisplaySettings,
    Settings,
    make_settings,
    settings_by_key,
    settings_files,
)


def test_every_setting_but_home_is_described() -> None:
    described = {setting.name for setting in (*SETTINGS, *DISPLAY_SETTINGS)}
    assert described == settings_by_key(Settings()).keys() - {"project_policy", "model_window"}
    assert [setting.name for setting in DISPLAY_SETTINGS] == list(DisplaySettings._fields)
    assert all(setting.meaning for setting in (*SETTINGS, *DISPLAY_SETTINGS))


def test_no_key_is_both_known_and_not_built_yet() -> None:
    assert UNSUPPORTED_KEYS.isdisjoint(settings_by_key(Settings()))
    assert {"auto_compact", "url_policy", "vfs", "image"} <= UNSUPPORTED_KEYS < CHIBI_KEYS


def test_the_known_providers_are_those_of_the_gateway() -> None:
    assert ("offline", *KNOWN_PROVIDERS) == PROVIDERS


def test_only_keys_are_secret() -> None:
    assert [setting.name for setting in SETTINGS if setting.secret] == ["api_key"]


def test_a_repr_holds_no_key() -> None:
    settings = make_settings(api_key="sk-canary", providers={"work": {"api_key": "sk-canary"}}, model="m")
    assert "sk-canary" not in repr(settings)
    assert "api_key='(set)', base_url='', providers=('work',)" in repr(settings)
    assert "api_key=''" in repr(Settings())


def test_values_by_key_go_into_their_sections_and_back() -> None:
    values = {**settings_by_key(Settings()), "model": "m", "model_window": 5, "tools": {"include": ("a",)}, "fuel": 1}
    settings = make_settings("/h", **values)
    assert (settings.model.name, settings.model.window, settings.conversation.fuel) == ("m", 5, 1)
    assert settings_by_key(settings) == values
    with pytest.raises(KeyError, match="nonsense"):
        make_settings(nonsense=1)


def test_files_are_named_whether_they_are_there_or_not() -> None:
    assert settings_files("/h", "/p") == ("/h/config.toml", "/h/models.toml", "/p/.marid.toml", "", "/h/cli.toml", "")
    assert settings_files("/h", "").project == ""
    own = settings_files("/h", "/p", "/h/contexts/x")
    assert (own.local, own.own_cli) == ("/h/contexts/x/local.toml", "/h/contexts/x/cli.toml")
