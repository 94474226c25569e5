import anyio
import pytest

from fakes.model import FakeModel
from marid.core.errors import NotFound
from marid.engine.model_catalogue import ModelCatalogue


def test_the_rounds_own_provider_is_asked() -> None:
    catalogue = ModelCatalogue(FakeModel(name="m", window=1000))
    info = anyio.run(catalogue.info, "m")
    assert (info.id, info.provider, info.context_window) == ("m", "fake", 1000)
    with pytest.raises(NotFound):
        anyio.run(catalogue.info, "other")
