"""What the provider of a round knows about its models."""

from marid.core.model_io import ModelInfo
from marid.ports.model import Model, ModelLookup


class ModelCatalogue(ModelLookup):
    """Asks the provider that the round itself asks."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def info(self, name: str) -> ModelInfo:
        """As in the port."""
        return await self._model.info(name)
