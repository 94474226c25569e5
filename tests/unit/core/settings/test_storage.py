from marid.core.conversation.records import StorageSettings
from marid.core.settings.storage import storage_settings
from marid.core.settings.values import Settings, make_settings


def test_what_is_not_set_is_the_default() -> None:
    assert storage_settings(Settings()) == StorageSettings()


def test_every_key_is_taken_over_and_the_heartbeat_with_them() -> None:
    table = {
        "partition_max_entries": 5, "partition_max_age_seconds": 70, "partition_max_tokens": 6, "bytes_per_token": 2,
        "enable_bloom_filters": False,
    }  # fmt: skip
    assert storage_settings(make_settings(storage=table, lock_heartbeat_seconds=2.0)) == StorageSettings(
        5, 70, 6, 2, False, 2.0
    )


def test_smaller_values_than_make_sense_are_raised() -> None:
    table = {
        "partition_max_entries": 0, "partition_max_age_seconds": 1, "partition_max_tokens": 0, "bytes_per_token": 0
    }  # fmt: skip
    assert storage_settings(make_settings(storage=table))[:4] == (1, 60, 1, 1)
