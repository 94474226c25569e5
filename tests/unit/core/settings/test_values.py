from marid.core.conversation.records import StorageSettings
from marid.core.settings.values import ModelSettings, Settings, make_settings, settings_files, storage_settings


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


def test_every_key_is_taken_over_and_the_heartbeat_with_them() -> None:
    table = StorageSettings(5, 70, 6, 2, enable_bloom_filters=False)._asdict()
    del table["lock_heartbeat_seconds"]
    settings = make_settings(storage=table, lock_heartbeat_seconds=2.0)
    assert storage_settings(settings) == (5, 70, 6, 2, False, 2.0)
    assert storage_settings(Settings()) == StorageSettings()


def test_smaller_values_than_make_sense_are_raised() -> None:
    table = dict.fromkeys(StorageSettings._fields[:4], 0)
    assert storage_settings(make_settings(storage=table))[:4] == (1, 60, 1, 1)
