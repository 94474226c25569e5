from pathlib import Path

import pytest

from fakes.settings import Place
from marid.bootstrap.settings.layer_stack import SettingsStack
from marid.core.errors import BadInput
from marid.core.settings.values import settings_files


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_files_are_read_once_and_put_together(place: Place) -> None:
    place.config("fuel = 4\n")
    place.cli("verbose = true\n")
    stack = SettingsStack(settings_files(str(place.home), str(place.project)))
    place.config("fuel = 5\n")
    settings, display = stack.merge({}, {})
    assert (settings.values, display.values) == ({"fuel": 4}, {"verbose": True})
    assert stack.notes == []


def test_a_home_of_chibi_is_read_leniently_and_a_project_never(place: Place) -> None:
    place.config("new_key = 4\n")
    place.cli("other_key = 1\n")
    stack = SettingsStack(settings_files(str(place.home), str(place.project)), is_chibi_home=True)
    assert stack.merge({}, {})[0].values == {}
    assert len(stack.notes) == 2
    place.marid_toml("new_key = 1\n")
    with pytest.raises(BadInput, match="unknown key 'new_key'"):
        SettingsStack(settings_files(str(place.home), str(place.project)), is_chibi_home=True).merge({}, {})


def test_images_of_a_terminal_are_not_built_yet(place: Place) -> None:
    place.cli("verbose = true\n[image]\nrender_images = true\n")
    found = place.resolve()
    assert found.settings.display.verbose
    assert found.notes == (f"{place.home / 'cli.toml'}:2: 'image' is not used yet",)
