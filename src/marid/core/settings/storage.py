"""The table `storage` as the store has it."""

from collections.abc import Mapping
from typing import Any, cast

from marid.core.conversation.records import StorageSettings
from marid.core.settings.values import Settings


def storage_settings(settings: Settings) -> StorageSettings:
    """What the settings ask for, never below the smallest values that make sense."""
    known = cast("Mapping[str, Any]", settings.conversation.storage)
    heartbeat = settings.conversation.lock_heartbeat_seconds
    return StorageSettings(lock_heartbeat_seconds=heartbeat)._replace(**known).with_minimums()
