"""Port to the performance of the user interface."""

from collections.abc import Mapping
from typing import Protocol


class UiMetrics(Protocol):
    """Measured by the user interface itself."""

    def read(self) -> Mapping[str, float]:
        """The present values: `fps`, `frame_time_ms`, `cpu_percent`, `input_lag_ms`, and others by their names.

        Raises: Unavailable if no interface is attached, or if it does not answer.
        """
        ...
