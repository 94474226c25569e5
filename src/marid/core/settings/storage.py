"""The table `storage` as the store has it."""

from collections.abc import Mapping
from typing import Any, cast

from marid.core.conversation.records import StorageSettings
from marid.core.settings.values import Settings


def storage_settings(settings: Settings) -> StorageSettings:
    """What the settings ask for, never below the smallest values that make sense."""
    known = cast("Mapping[str, Any]", settings.storage)
    return StorageSettings(lock_heartbeat_seconds=settings.lock_heartbeat_seconds)._replace(**known).with_minimums()
