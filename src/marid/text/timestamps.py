"""Moments as people read them."""

import time


def format_timestamp(time_ms: float) -> str:
    """A moment, in ms since 1970, in local time; nothing for never."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(time_ms / 1000)) if time_ms else ""
