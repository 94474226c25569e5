from marid.core.settings.values import ModelSettings, Settings, settings_files


def test_a_repr_holds_no_key() -> None:
    settings = Settings(model=ModelSettings(api_key="sk-canary", providers={"work": {"api_key": "sk-canary"}}))
    assert "sk-canary" not in repr(settings)
    assert "api_key='(set)', base_url='', providers=('work',)" in repr(settings)
    assert "api_key=''" in repr(Settings())


def test_files_are_named_whether_they_are_there_or_not() -> None:
    assert settings_files("/h", "/p") == ("/h/config.toml", "/h/models.toml", "/p/.marid.toml", "", "/h/cli.toml", "")
    assert settings_files("/h", "").project == ""
    own = settings_files("/h", "/p", "/h/contexts/x")
    assert (own.local, own.own_cli) == ("/h/contexts/x/local.toml", "/h/contexts/x/cli.toml")
