from marid.core.settings import LATER, SETTINGS, Settings


def test_every_setting_but_home_is_described() -> None:
    assert [setting.name for setting in SETTINGS] == [
        name for name in Settings._fields if name not in {"home", "narrower"}
    ]
    assert all(setting.meaning for setting in SETTINGS)


def test_no_key_is_both_known_and_not_built_yet() -> None:
    assert LATER.isdisjoint(Settings._fields)
    assert "api_key" in LATER
