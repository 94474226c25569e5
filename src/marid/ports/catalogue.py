"""What is known about models, for the tool that tells."""

from typing import Protocol

from marid.core.chat import ModelInfo


class ModelLookup(Protocol):
    """The models of the conversation's provider."""

    async def info(self, name: str) -> ModelInfo:
        """What is known about one. Raises: as `Model.info`."""
        ...
