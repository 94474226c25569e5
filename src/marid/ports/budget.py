"""What may be spent on models."""

from typing import Protocol

from marid.core.model_io import ModelRequest, Usage


class SpendingBudget(Protocol):
    """Asked before every request that leaves for a service, and told what each answer cost."""

    def ask(self, request: ModelRequest) -> None:
        """May `request` be sent? Raises: Exhausted when it may not, in words that name the budget."""
        ...

    def spend(self, request: ModelRequest, usage: Usage) -> None:
        """`request` cost this much; also called for an answer that broke off."""
        ...
