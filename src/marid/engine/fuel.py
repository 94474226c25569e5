"""How many requests a round may still make."""

from collections.abc import Callable

from marid.core.rounds import Fuel, FuelExhausted, RoundHappening

_PREVIEW = 80


class Tank:
    """`total` 0 has no limit, and then nothing is told of fuel."""

    def __init__(self, total: int, emit: Callable[[RoundHappening], None]) -> None:
        self._total = max(0, total)
        self._left = self._total
        self._emit = emit

    @property
    def limited(self) -> bool:
        """Whether fuel can run out."""
        return self._total > 0

    @property
    def spent(self) -> bool:
        """Whether no request is left."""
        return self.limited and self._left <= 0

    @property
    def level(self) -> tuple[int, int] | None:
        """What is left and what there was, None without a limit."""
        return (self._left, self._total) if self.limited else None

    def use(self, cost: int = 1) -> None:
        """A request was made."""
        self._left = max(0, self._left - max(0, cost))

    def tell(self, event: str, prompt: str = "") -> None:
        """Say what is left; of a prompt, only the beginning is told."""
        if self.limited:
            preview = prompt if len(prompt) <= _PREVIEW else f"{prompt[: _PREVIEW - 3]}..."
            self._emit(Fuel(self._left, self._total, event, preview))

    def tell_end(self) -> None:
        """Say that nothing is left."""
        self._emit(FuelExhausted(self._total))
