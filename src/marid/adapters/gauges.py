"""Metrics of the user interface, for processes that have none."""

from collections.abc import Mapping

from marid.core.errors import Unavailable


class NoGauges:
    """The port UiMetrics without a user interface: `read` always raises Unavailable."""

    def read(self) -> Mapping[str, float]:
        raise Unavailable("no user interface is attached, so there is no performance to measure")
