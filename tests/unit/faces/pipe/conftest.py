from pathlib import Path

import pytest

from fakes.pipe import Pipe
from fakes.program import marid

__all__ = ["marid"]


@pytest.fixture
def pipe(tmp_path: Path) -> Pipe:
    return Pipe(tmp_path)
