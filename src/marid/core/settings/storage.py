"""The settings of the conversation store."""

from collections.abc import Mapping
from typing import Any, cast

from marid.core.conversation.records import StorageSettings
from marid.core.settings.values import Settings


def storage_settings(settings: Settings) -> StorageSettings:
    """The table `storage` and the heartbeat, with values that are too small raised to the smallest valid ones."""
    known = cast("Mapping[str, Any]", settings.conversation.storage)
    heartbeat = settings.conversation.lock_heartbeat_seconds
    return StorageSettings(lock_heartbeat_seconds=heartbeat)._replace(**known).with_minimums()
