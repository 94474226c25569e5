"""Gauges where there is nothing to measure, and gauges that somebody else's function reads."""

from collections.abc import Callable, Mapping

from marid.core.errors import Unavailable

MAX_MESSAGE_LENGTH = 200


class NoGauges:
    """The port Gauges of a process that draws nothing."""

    def read(self) -> Mapping[str, float]:
        """As in the port: always Unavailable."""
        raise Unavailable("no user interface is attached, so there is no performance to measure")


class CallbackGauges:
    """The port Gauges by a function that an interface has left."""

    def __init__(self, callback: Callable[[], Mapping[str, float]]) -> None:
        self._callback = callback

    def read(self) -> Mapping[str, float]:
        """As in the port; what breaks in the function is told in few words."""
        try:
            return {str(name): float(value) for name, value in self._callback().items()}
        except Exception as cause:  # the function is not ours: what it may raise is not known
            words = " ".join(str(cause).split())[:MAX_MESSAGE_LENGTH] or type(cause).__name__
            raise Unavailable(f"the user interface could not be measured: {words}") from cause
