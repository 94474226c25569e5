"""How many requests a round may still make."""

from collections.abc import Callable

from marid.core.round_events import FuelExhausted, FuelStatus, RoundEvent

_PREVIEW = 80


class FuelBudget:
    """`total` 0 has no limit, and then nothing is told of fuel."""

    def __init__(self, total: int, emit: Callable[[RoundEvent], None]) -> None:
        self._total = max(0, total)
        self._remaining = self._total
        self._emit = emit

    @property
    def is_limited(self) -> bool:
        """Whether fuel can run out."""
        return self._total > 0

    @property
    def is_exhausted(self) -> bool:
        """Whether no request is left."""
        return self.is_limited and self._remaining <= 0

    @property
    def level(self) -> tuple[int, int] | None:
        """What is left and what there was, None without a limit."""
        return (self._remaining, self._total) if self.is_limited else None

    def spend(self, cost: int = 1) -> None:
        """A request was made."""
        self._remaining = max(0, self._remaining - max(0, cost))

    def report(self, event: str, prompt: str = "") -> None:
        """Say what is left; of a prompt, only the beginning is told."""
        if self.is_limited:
            preview = prompt if len(prompt) <= _PREVIEW else f"{prompt[: _PREVIEW - 3]}..."
            self._emit(FuelStatus(self._remaining, self._total, event, preview))

    def report_exhausted(self) -> None:
        """Say that nothing is left."""
        self._emit(FuelExhausted(self._total))
