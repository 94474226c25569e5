"""What is known about models, for the tool that tells."""

from typing import Protocol

from marid.core.model_io import ModelInfo


class ModelLookup(Protocol):
    """The models of the conversation's provider."""

    async def info(self, name: str) -> ModelInfo:
        """What is known about one. Raises: as `Model.info`."""
        ...
