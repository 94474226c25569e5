"""A purse with a bottom."""

from marid.core.errors import Exhausted
from marid.core.model_io import ModelRequest, Usage


class Purse:
    """Grants so many requests and keeps what they cost."""

    def __init__(self, requests: int) -> None:
        self._left = requests
        self.spent: list[Usage] = []

    def ask(self, request: ModelRequest) -> None:
        if not self._left:
            raise Exhausted("the budget of requests is used up")
        self._left -= 1

    def spend(self, request: ModelRequest, usage: Usage) -> None:
        self.spent.append(usage)
