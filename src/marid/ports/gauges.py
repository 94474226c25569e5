"""How well the user interface runs."""

from collections.abc import Mapping
from typing import Protocol


class UiMetrics(Protocol):
    """Measured by whoever draws the interface."""

    def read(self) -> Mapping[str, float]:
        """The present values: `fps`, `frame_time_ms`, `cpu_percent`, `input_lag_ms`, and any others by their names.

        Raises:
            Unavailable: no interface is attached, or it does not answer.
        """
        ...
