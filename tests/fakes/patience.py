"""Signals that do not end the process: a hanging test is ended by its time limit, not with its worker."""

from marid.faces.signals import SignalGuard

_LONG = 600.0


def patient() -> SignalGuard:
    """A guard that never exits."""
    return SignalGuard(on_hang=lambda number: None, on_repeat=lambda number: None, grace=_LONG)
