from marid.core.conversation.records import StorageSettings
from marid.core.settings.storage import storage_settings
from marid.core.settings.values import Settings, make_settings


def test_every_key_is_taken_over_and_the_heartbeat_with_them() -> None:
    table = StorageSettings(5, 70, 6, 2, enable_bloom_filters=False)._asdict()
    del table["lock_heartbeat_seconds"]
    settings = make_settings(storage=table, lock_heartbeat_seconds=2.0)
    assert storage_settings(settings) == (5, 70, 6, 2, False, 2.0)
    assert storage_settings(Settings()) == StorageSettings()


def test_smaller_values_than_make_sense_are_raised() -> None:
    table = dict.fromkeys(StorageSettings._fields[:4], 0)
    assert storage_settings(make_settings(storage=table))[:4] == (1, 60, 1, 1)
