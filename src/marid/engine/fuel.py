"""How many requests a round may still make."""

from marid.core.round_events import FuelStatus

_PREVIEW = 80


class FuelBudget:
    """`total` 0 means no limit."""

    def __init__(self, total: int) -> None:
        self._total = max(0, total)
        self._remaining = self._total

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
        """What is left and the total; None without a limit."""
        return (self._remaining, self._total) if self.is_limited else None

    def spend(self, cost: int = 1) -> None:
        """A request was made."""
        self._remaining = max(0, self._remaining - max(0, cost))

    def adjust(self, remaining: int | None, delta: int) -> None:
        """Set what is left and add to it, never below 0. Ignored without a limit."""
        if self.is_limited:
            self._remaining = max(0, (self._remaining if remaining is None else remaining) + delta)

    def status(self, event: str, prompt: str | None = None) -> FuelStatus:
        """What is left; of a continuation's prompt only the beginning is shown."""
        preview = f"{prompt[: _PREVIEW - 3]}..." if prompt and len(prompt) > _PREVIEW else prompt
        return FuelStatus(self._remaining, self._total, event, preview)
