from pathlib import Path

import pytest

from fakes.settings import SettingsFiles


@pytest.fixture
def place(tmp_path: Path) -> SettingsFiles:
    return SettingsFiles(tmp_path)
