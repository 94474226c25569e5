"""Signals that end no process: whoever hangs in a test is ended by the test's own limit, not with its worker."""

from marid.faces.signals import SignalGuard

_LONG = 600.0


def patient() -> SignalGuard:
    """Whatever comes, and however often."""
    return SignalGuard(on_hang=lambda number: None, on_repeat=lambda number: None, grace=_LONG)
