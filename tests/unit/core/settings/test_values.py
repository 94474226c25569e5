from marid.adapters.gateway.providers import KNOWN_PROVIDERS
from marid.core.settings.values import (
    CHIBI_KEYS,
    DISPLAY_SETTINGS,
    PROVIDERS,
    SETTINGS,
    UNSUPPORTED_KEYS,
    DisplaySettings,
    Settings,
    settings_files,
)


def test_every_setting_but_home_is_described() -> None:
    assert [setting.name for setting in SETTINGS] == [
        name for name in Settings._fields if name not in {"home", "project_policy", "model_window"}
    ]
    assert [setting.name for setting in DISPLAY_SETTINGS] == list(DisplaySettings._fields)
    assert all(setting.meaning for setting in (*SETTINGS, *DISPLAY_SETTINGS))


def test_no_key_is_both_known_and_not_built_yet() -> None:
    assert UNSUPPORTED_KEYS.isdisjoint({*Settings._fields, *DisplaySettings._fields})
    assert {"auto_compact", "url_policy", "vfs", "image"} <= UNSUPPORTED_KEYS < CHIBI_KEYS


def test_the_known_providers_are_those_of_the_gateway() -> None:
    assert ("offline", *KNOWN_PROVIDERS) == PROVIDERS


def test_only_keys_are_secret() -> None:
    assert [setting.name for setting in SETTINGS if setting.secret] == ["api_key"]


def test_a_repr_holds_no_key() -> None:
    settings = Settings(api_key="sk-canary", providers={"work": {"api_key": "sk-canary"}}, model="m")
    assert "sk-canary" not in repr(settings)
    assert "api_key='(set)', base_url='', providers=('work',)" in repr(settings)
    assert "api_key=''" in repr(Settings())
    assert repr(Settings()).startswith("Settings(home='', max_size_mb=100.0, ")


def test_files_are_named_whether_they_are_there_or_not() -> None:
    assert settings_files("/h", "/p") == ("/h/config.toml", "/h/models.toml", "/p/.marid.toml", "", "/h/cli.toml", "")
    assert settings_files("/h", "").project == ""
    own = settings_files("/h", "/p", "/h/contexts/x")
    assert (own.local, own.own_cli) == ("/h/contexts/x/local.toml", "/h/contexts/x/cli.toml")
